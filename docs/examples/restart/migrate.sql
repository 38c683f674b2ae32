INSERT INTO starts(version, at) VALUES ('2.0', 1700000000);
