-- changed /tables
UPDATE data SET v = x'00fe' WHERE k = 'a';
