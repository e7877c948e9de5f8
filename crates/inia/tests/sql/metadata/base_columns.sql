-- Moments that set themselves are marked; texts and documents report their greatest length.
create table m(a timestamp null, b timestamp null default now(), c timestamp null on update now(), d datetime, e datetime default now(), f datetime on update now(), g timestamp not null default '2020-01-01 00:00:00', h datetime not null default '2020-01-01', i timestamp(3) default now(3), j json, t tinytext, u text, v mediumtext, w longtext, x text character set latin1, y blob);
select * from m;
