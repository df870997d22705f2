// Nothing but what most sources include (fieldcost_headers in deploy/cmake).
