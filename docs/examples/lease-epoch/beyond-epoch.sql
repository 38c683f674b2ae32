-- count /tables/leases/changed/count
UPDATE leases SET epoch = '1' WHERE path = '/srv/a';
