"""Shell scripts as far as settings need it: words with their quoting, assignments, control flow, places in the text.

Written for files that a shell sources (``setenv.sh``, ``/etc/default/tomcat10``, ``standalone.conf``). It covers the
POSIX grammar and what bash adds in such files (arrays, ``+=``, ``[[ ]]``, ``function``, here-strings). It executes
nothing.
"""
