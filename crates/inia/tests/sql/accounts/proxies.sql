-- GRANT and REVOKE PROXY, and what SHOW GRANTS and mysql.proxies_priv show of them.
CREATE USER proxied, proxy@localhost, other@localhost;
GRANT PROXY ON proxied TO proxy@localhost;
SHOW GRANTS FOR proxy@localhost;
GRANT PROXY ON proxied TO proxy@localhost WITH GRANT OPTION;
SHOW GRANTS FOR proxy@localhost;
GRANT PROXY ON nowhere@host TO other@localhost;
SHOW GRANTS FOR other@localhost;
GRANT PROXY ON proxied TO nowhere;
SELECT Host, User, Proxied_host, Proxied_user, With_grant, Grantor FROM mysql.proxies_priv WHERE User <> 'root' ORDER BY 1, 2, 3, 4;
SELECT Host, User, Proxied_host, Proxied_user, With_grant FROM mysql.proxies_priv WHERE User = 'root';
-- as: proxy
GRANT PROXY ON proxied TO other@localhost;
GRANT PROXY ON other@localhost TO proxy@localhost;
REVOKE PROXY ON nowhere@host FROM other@localhost;
REVOKE PROXY ON proxied FROM other@localhost;
SHOW GRANTS;
-- as: other
GRANT PROXY ON proxied TO other@localhost;
-- as: root
REVOKE PROXY ON nowhere@host FROM other@localhost;
SHOW GRANTS FOR other@localhost;
REVOKE PROXY ON nowhere@host FROM other@localhost;
REVOKE IF EXISTS PROXY ON nowhere@host FROM other@localhost;
REVOKE PROXY ON proxied FROM nowhere;
REVOKE IF EXISTS PROXY ON proxied FROM nowhere IGNORE UNKNOWN USER;
GRANT PROXY ON ''@'' TO other@localhost;
SHOW GRANTS FOR other@localhost;
RENAME USER other@localhost TO another@localhost;
SHOW GRANTS FOR another@localhost;
REVOKE ALL PRIVILEGES, GRANT OPTION FROM another@localhost;
SHOW GRANTS FOR another@localhost;
DROP USER another@localhost, proxy@localhost;
SELECT COUNT(*) FROM mysql.proxies_priv WHERE User <> 'root';
DROP USER proxied;
