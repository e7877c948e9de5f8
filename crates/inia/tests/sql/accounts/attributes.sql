-- Attributes and comments of accounts: objects that are merged, where null removes.

CREATE USER attr_a@localhost ATTRIBUTE '{"b": 1, "a": [1,2]}';
SELECT * FROM information_schema.USER_ATTRIBUTES WHERE USER = 'attr_a';
ALTER USER attr_a@localhost ATTRIBUTE '{"c": null, "b": null}';
SELECT * FROM information_schema.USER_ATTRIBUTES WHERE USER = 'attr_a';
ALTER USER attr_a@localhost COMMENT 'say "x\\y"';
SELECT * FROM information_schema.USER_ATTRIBUTES WHERE USER = 'attr_a';
SELECT User_attributes FROM mysql.user WHERE User = 'attr_a';
ALTER USER attr_a@localhost ATTRIBUTE '{"a": {"deep": [true]}, "comment": null}';
SHOW CREATE USER attr_a@localhost;
ALTER USER attr_a@localhost ATTRIBUTE '{"a": null}';
SHOW CREATE USER attr_a@localhost;

-- The first attributes are kept as they are, null included.
CREATE USER attr_b@localhost ATTRIBUTE '{"x": null}', attr_c@localhost;
CREATE USER attr_b@localhost ATTRIBUTE '{"x": null}';
CREATE USER attr_c@localhost COMMENT '';
SELECT * FROM information_schema.USER_ATTRIBUTES WHERE USER LIKE 'attr\_%' ORDER BY USER;

-- Only objects are attributes.
ALTER USER attr_a@localhost ATTRIBUTE '[1]';
ALTER USER attr_a@localhost ATTRIBUTE '{bad';
CREATE USER attr_d@localhost ATTRIBUTE 'null';
CREATE USER attr_d@localhost ATTRIBUTE '';
CREATE USER IF NOT EXISTS attr_a@localhost ATTRIBUTE '7';
SELECT COUNT(*) FROM mysql.user WHERE User = 'attr_d';
DROP USER attr_a@localhost, attr_b@localhost, attr_c@localhost;
