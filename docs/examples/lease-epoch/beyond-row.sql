-- count /tables/leases/removed/count
DELETE FROM leases WHERE path = '/srv/b';
