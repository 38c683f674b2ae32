-- rows /tables/admissions/added/rows/0
UPDATE admissions SET id = 50 WHERE id = 41;
