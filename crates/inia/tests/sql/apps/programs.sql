-- Programs of Zabbix, FreeRADIUS and pt-online-schema-change.
create table hosts (hostid bigint unsigned primary key, name varchar(64), status int default 0);
create table changelog (changelogid bigint unsigned not null auto_increment, object integer default '0' not null, objectid bigint unsigned not null, operation integer default '0' not null, clock integer default '0' not null, primary key (changelogid));
create trigger hosts_insert after insert on hosts for each row insert into changelog (object,objectid,operation,clock) values (1,new.hostid,1,unix_timestamp());
create trigger hosts_update after update on hosts for each row insert into changelog (object,objectid,operation,clock) values (1,old.hostid,2,unix_timestamp());
create trigger hosts_delete before delete on hosts for each row insert into changelog (object,objectid,operation,clock) values (1,old.hostid,3,unix_timestamp());
create trigger hosts_name_upper_insert before insert on hosts for each row set new.name=upper(new.name);
-- body
create trigger hosts_name_upper_update before update on hosts for each row begin if new.name<>old.name then set new.name=upper(new.name); end if; end;;
insert into hosts values (1,'a',0),(2,'b',0);
update hosts set name='zz' where hostid=1;
delete from hosts where hostid=2;
select object,objectid,operation from changelog order by changelogid;
select * from hosts;
CREATE TABLE radippool (id int unsigned NOT NULL auto_increment, pool_name varchar(30) NOT NULL, framedipaddress varchar(15) NOT NULL default '', nasipaddress varchar(15) NOT NULL default '', calledstationid VARCHAR(32) NOT NULL default '', callingstationid VARCHAR(30) NOT NULL default '', expiry_time DATETIME NOT NULL default NOW(), username varchar(64) NOT NULL default '', pool_key varchar(30) NOT NULL default '', PRIMARY KEY (id), KEY radippool_poolname_expire (pool_name, expiry_time), KEY framedipaddress (framedipaddress), KEY radippool_nasip_poolkey_ipaddress (nasipaddress, pool_key, framedipaddress)) ENGINE=InnoDB;
insert into radippool(pool_name,framedipaddress,expiry_time) values ('p','10.0.0.1','2000-01-01'),('p','10.0.0.2','2000-01-01');
-- body
CREATE PROCEDURE fr_allocate_previous_or_new_framedipaddress (
        IN v_pool_name VARCHAR(64),
        IN v_username VARCHAR(64),
        IN v_callingstationid VARCHAR(64),
        IN v_nasipaddress VARCHAR(15),
        IN v_pool_key VARCHAR(64),
        IN v_lease_duration INT
)
SQL SECURITY INVOKER
proc:BEGIN
        DECLARE r_address VARCHAR(15);

        DECLARE EXIT HANDLER FOR SQLEXCEPTION
        BEGIN
            ROLLBACK;
            RESIGNAL;
        END;

        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;

        START TRANSACTION;

        SELECT framedipaddress INTO r_address
        FROM radippool
        WHERE pool_name = v_pool_name
                AND expiry_time > NOW()
                AND username = v_username
                AND callingstationid = v_callingstationid
        LIMIT 1
        FOR UPDATE;

        IF r_address IS NULL THEN
                SELECT framedipaddress INTO r_address
                FROM radippool
                WHERE pool_name = v_pool_name
                        AND ( expiry_time < NOW() OR expiry_time IS NULL )
                ORDER BY
                        expiry_time
                LIMIT 1
                FOR UPDATE SKIP LOCKED;
        END IF;

        IF r_address IS NULL THEN
                COMMIT;
                LEAVE proc;
        END IF;

        UPDATE radippool
        SET
                nasipaddress = v_nasipaddress,
                pool_key = v_pool_key,
                callingstationid = v_callingstationid,
                username = v_username,
                expiry_time = NOW() + INTERVAL v_lease_duration SECOND
        WHERE framedipaddress = r_address;

        COMMIT;

        SELECT r_address;
END;;
CALL fr_allocate_previous_or_new_framedipaddress('p','bob','aa:bb','10.1.1.1','k',3600);
CALL fr_allocate_previous_or_new_framedipaddress('p','al','aa:cc','10.1.1.1','k',3600);
CALL fr_allocate_previous_or_new_framedipaddress('p','cy','aa:dd','10.1.1.1','k',3600);
CALL fr_allocate_previous_or_new_framedipaddress('p','bob','aa:bb','10.1.1.1','k',3600);
select framedipaddress, username, nasipaddress from radippool;
CREATE TABLE orig (id int primary key, v varchar(10));
CREATE TABLE _orig_new LIKE orig;
-- body
CREATE TRIGGER `pt_osc_del` AFTER DELETE ON `orig` FOR EACH ROW BEGIN DECLARE CONTINUE HANDLER FOR 1146 begin end; DELETE IGNORE FROM `_orig_new` WHERE `_orig_new`.`id` <=> OLD.`id`; END;;
-- body
CREATE TRIGGER `pt_osc_upd` AFTER UPDATE ON `orig` FOR EACH ROW BEGIN DECLARE CONTINUE HANDLER FOR 1146 begin end; DELETE IGNORE FROM `_orig_new` WHERE !(OLD.`id` <=> NEW.`id`) AND `_orig_new`.`id` <=> OLD.`id`; REPLACE INTO `_orig_new` (`id`, `v`) VALUES (NEW.`id`, NEW.`v`); END;;
-- body
CREATE TRIGGER `pt_osc_ins` AFTER INSERT ON `orig` FOR EACH ROW BEGIN DECLARE CONTINUE HANDLER FOR 1146 begin end; REPLACE INTO `_orig_new` (`id`, `v`) VALUES (NEW.`id`, NEW.`v`);END;;
insert into orig values (1,'a'),(2,'b'),(3,'c');
update orig set id=10, v='z' where id=1;
delete from orig where id=2;
select * from _orig_new order by id;
rename table orig to _orig_old, _orig_new to orig;
drop trigger pt_osc_del;
drop trigger pt_osc_upd;
drop trigger pt_osc_ins;
select * from orig;
drop table _orig_old;
