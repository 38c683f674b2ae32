-- rows /tables/starts/added/rows/0
INSERT INTO starts(version, at) VALUES ('2.0', 1700000001);
