// Contains only the headers that all tests include (fieldcost_test_headers in deploy/cmake).
