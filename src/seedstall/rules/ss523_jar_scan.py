"""SS523: the start scans jar files."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Finding
from seedstall.model.rule import rule
from seedstall.model.standing import Standings
from seedstall.model.verdict import Cause
from seedstall.rules import place_account


@rule("SS523", "jar-scan")
def jar_scan(standings: Standings) -> Iterator[Finding]:
    """The start scans jar files for annotations, tag libraries or components.

    ## What it detects
    A thread of the start inside Tomcat's jar or TLD scan, Jetty's annotation parser, Spring's component scan,
    or a class-graph library.

    ## Why it matters
    Scanning opens and reads every jar of the application: seconds on a local disk, minutes on a network file
    system or a throttled container. Tomcat's last line before it is the hint about TLD scanning, after which
    session-id generation comes: the two are confused often.

    ## Fix
    Name the jars that need no scan (Tomcat: ``tomcat.util.scan.StandardJarScanFilter.jarsToSkip`` in
    ``conf/catalina.properties``; ``metadata-complete="true"`` in web.xml), and keep the application on a local
    disk.
    """
    yield from place_account.findings(
        standings,
        (Cause.JAR_SCAN,),
        "Tomcat: jarsToSkip in conf/catalina.properties names the jars that need no scan",
    )
