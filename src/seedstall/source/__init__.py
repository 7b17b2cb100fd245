"""The one seam to the world: a `Source` answers a `Ref` with a value or the reason there is none."""
