UPDATE t SET v = 'x' WHERE id = 1;
UPDATE t SET v = 'a' WHERE id = 1;
VACUUM;
