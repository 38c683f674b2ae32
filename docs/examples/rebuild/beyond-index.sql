-- drop /schema
DROP INDEX account_by_owner;
