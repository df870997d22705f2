// Nothing but what all tests include (fieldcost_test_headers in deploy/cmake).
