-- rows /tables/counters/changed/rows/0
UPDATE counters SET value = value + 1 WHERE name = 'admissions';
