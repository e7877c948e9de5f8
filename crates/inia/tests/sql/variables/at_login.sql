-- What a session's variables are: those it has set, and otherwise the global ones of its login.
select @@session.sort_buffer_size into @old;
set global sort_buffer_size = 1000000;
select @@session.sort_buffer_size = @old, @@global.sort_buffer_size;
set session sort_buffer_size = default;
select @@session.sort_buffer_size;
set global sort_buffer_size = default;
select @@session.sort_buffer_size, @@global.sort_buffer_size;
-- A character set and its collation follow each other.
set character_set_server = latin1;
select @@character_set_server, @@collation_server;
set collation_server = utf8mb4_bin;
select @@character_set_server, @@collation_server;
set character_set_server = default;
select @@character_set_server, @@collation_server;
set character_set_connection = latin1;
select @@character_set_connection, @@collation_connection;
set collation_connection = 8;
select @@character_set_connection, @@collation_connection;
set names utf8mb4;
set character_set_results = 255;
set character_set_client = 45;
select @@character_set_client, @@character_set_results;
set character_set_results = 999;
set collation_connection = 9999;
set collation_connection = 1.5;
