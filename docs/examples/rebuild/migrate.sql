BEGIN;
CREATE TABLE account_new(id INTEGER PRIMARY KEY, owner TEXT, balance INTEGER CHECK (balance >= 0));
INSERT INTO account_new SELECT id, owner, max(balance, 0) FROM account;
DROP TABLE account;
ALTER TABLE account_new RENAME TO account;
CREATE INDEX account_by_owner ON account(owner);
COMMIT;
