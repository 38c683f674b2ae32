CREATE TABLE account(id INTEGER PRIMARY KEY, owner TEXT, balance INTEGER);
CREATE INDEX account_by_owner ON account(owner);
INSERT INTO account VALUES (1, 'ada', 700), (2, 'bob', -1), (3, 'cy', 0);
