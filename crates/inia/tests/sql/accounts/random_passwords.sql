-- IDENTIFIED BY RANDOM PASSWORD and SET PASSWORD TO RANDOM: who gets a password, and how the account stores it.
create user rp_plain identified by 'x';
create user if not exists rp_plain identified by 'y';
select length(authentication_string), plugin from mysql.user where user = 'rp_plain';
set generated_random_password_length = 3;
show warnings;
select @@generated_random_password_length;
set generated_random_password_length = 300;
select @@generated_random_password_length;
set generated_random_password_length = default;
create user rp_none identified with nonsense by random password;
alter user rp_missing identified by random password;
set password for rp_missing to random;
drop user rp_plain;
flush hosts;
show warnings;
purge binary logs to 'x';
show binlog events;
