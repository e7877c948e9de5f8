-- Columns of tables of information_schema are called as they were written, those of its views as declared.
SELECT Grantee FROM information_schema.user_privileges LIMIT 0;
SELECT Table_Name FROM information_schema.tables LIMIT 0;
SELECT Id FROM information_schema.processlist LIMIT 0;
SELECT Engine FROM information_schema.engines LIMIT 0;
SELECT Plugin_name FROM information_schema.plugins LIMIT 0;
SELECT Grantee FROM information_schema.schema_privileges LIMIT 0;
SELECT p.Grantee FROM information_schema.table_privileges p LIMIT 0;
SELECT Grantee FROM information_schema.column_privileges LIMIT 0;
SELECT Query_id FROM information_schema.profiling LIMIT 0;
SELECT trx_ID FROM information_schema.innodb_trx LIMIT 0;
SELECT User FROM information_schema.user_attributes LIMIT 0;
SELECT Word FROM information_schema.keywords LIMIT 0;
SELECT Tablespace_name FROM information_schema.tablespaces LIMIT 0;
SELECT User FROM information_schema.applicable_roles LIMIT 0;
SELECT Space FROM information_schema.innodb_datafiles LIMIT 0;
SELECT Index_id FROM information_schema.innodb_fields LIMIT 0;
SELECT Host FROM mysql.user LIMIT 0;
