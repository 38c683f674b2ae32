-- rows /tables/account/changed/rows
UPDATE account SET balance = 699 WHERE id = 1;
