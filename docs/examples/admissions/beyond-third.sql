-- count /tables/admissions/added/count
INSERT INTO admissions VALUES (43, 'mal', 1700000003);
