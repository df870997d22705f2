// Empty; compiled only to precompile the common headers (fieldcost_headers in deploy/cmake).
