package clients;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Set;

/**
 * Prints everything that a driver's DatabaseMetaData says of a schema, one row a line. Each row is
 * a check by its text, so that rows which one server lacks are checks that it fails.
 */
public final class Metadata {
    private static final String SCHEMA = "jdbc_metadata";

    /** Answers that are about the server's version, its address or its account. */
    private static final Set<String> OWN = Set.of(
            "getURL", "getUserName", "getDatabaseProductVersion", "getDatabaseMinorVersion", "getConnection", "getCatalogs", "getSchemas");

    private static final String[] TABLES = {
        "CREATE TABLE parent (a INT, b VARCHAR(20), name VARCHAR(50) NOT NULL DEFAULT 'x' COMMENT 'a name', PRIMARY KEY (a, b),"
                + " UNIQUE KEY named (name), KEY both_ways (b DESC, name(10))) COMMENT 'of parents'",
        "CREATE TABLE child (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(20), CONSTRAINT to_parent"
                + " FOREIGN KEY (a, b) REFERENCES parent (a, b) ON DELETE CASCADE ON UPDATE SET NULL)",
        "CREATE TABLE types (ti TINYINT, b1 TINYINT(1), si SMALLINT UNSIGNED, mi MEDIUMINT, i INT UNSIGNED, bi BIGINT, bt BIT(9), b1t BIT(1),"
                + " de DECIMAL(20,5), du DECIMAL(8) UNSIGNED, f FLOAT, f2 FLOAT(7,3), d DOUBLE, c CHAR(7), vc VARCHAR(300), bn BINARY(4),"
                + " vb VARBINARY(40), tt TINYTEXT, tx TEXT, mt MEDIUMTEXT, lt LONGTEXT, tb TINYBLOB, bl BLOB, mb MEDIUMBLOB, lb LONGBLOB,"
                + " en ENUM('a','b,c'), st SET('x','y'), da DATE, tm TIME(3), dt DATETIME(6), ts TIMESTAMP NULL, ye YEAR, js JSON, ge GEOMETRY,"
                + " l1 VARCHAR(10) CHARACTER SET latin1, g INT GENERATED ALWAYS AS (i + 1) STORED, gv INT AS (i + 2), dx INT DEFAULT (1 + 2),"
                + " up TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)",
        "CREATE VIEW seen AS SELECT p.a, p.name, c.id FROM parent p LEFT JOIN child c ON c.a = p.a",
        "CREATE PROCEDURE work(IN x INT, OUT y VARCHAR(30), INOUT z DECIMAL(10,2)) COMMENT 'works' SELECT 1",
        "CREATE FUNCTION plus(x INT, y DATETIME) RETURNS BIGINT DETERMINISTIC RETURN x + 1",
    };

    private Metadata() {}

    public static void main(String[] args) throws Exception {
        try (Connection connection = DriverManager.getConnection(args[0])) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("DROP DATABASE IF EXISTS " + SCHEMA);
                statement.execute("CREATE DATABASE " + SCHEMA);
                statement.execute("USE " + SCHEMA);
                for (String sql : TABLES) {
                    statement.execute(sql);
                }
            }
            DatabaseMetaData data = connection.getMetaData();
            Method[] methods = DatabaseMetaData.class.getMethods();
            Arrays.sort(methods, Comparator.comparing(Method::getName).thenComparing(m -> m.getParameterCount()));
            for (Method method : methods) {
                if (method.getParameterCount() == 0 && !OWN.contains(method.getName())) {
                    print(method.getName(), () -> method.invoke(data));
                }
            }
            for (int type : new int[] {ResultSet.TYPE_FORWARD_ONLY, ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.TYPE_SCROLL_SENSITIVE}) {
                print("supportsResultSetType " + type, () -> data.supportsResultSetType(type));
            }
            for (int level : new int[] {0, 1, 2, 4, 8}) {
                print("supportsTransactionIsolationLevel " + level, () -> data.supportsTransactionIsolationLevel(level));
            }
            for (String table : new String[] {"%", "parent", "child", "types", "seen", "c%", "nothing"}) {
                print("getTables " + table, () -> data.getTables(SCHEMA, null, table, null));
                print("getColumns " + table, () -> data.getColumns(SCHEMA, null, table, "%"));
                print("getColumnPrivileges " + table, () -> data.getColumnPrivileges(SCHEMA, null, table, "%"));
                print("getTablePrivileges " + table, () -> data.getTablePrivileges(SCHEMA, null, table));
                print("getPrimaryKeys " + table, () -> data.getPrimaryKeys(SCHEMA, null, table));
                print("getImportedKeys " + table, () -> data.getImportedKeys(SCHEMA, null, table));
                print("getExportedKeys " + table, () -> data.getExportedKeys(SCHEMA, null, table));
                print("getIndexInfo " + table, () -> data.getIndexInfo(SCHEMA, null, table, false, true));
                print("getIndexInfo unique " + table, () -> data.getIndexInfo(SCHEMA, null, table, true, true));
                print("getBestRowIdentifier " + table, () -> data.getBestRowIdentifier(SCHEMA, null, table, DatabaseMetaData.bestRowSession, true));
                print("getVersionColumns " + table, () -> data.getVersionColumns(SCHEMA, null, table));
            }
            print("getTables of views", () -> data.getTables(SCHEMA, null, "%", new String[] {"VIEW"}));
            print("getCrossReference", () -> data.getCrossReference(SCHEMA, null, "parent", SCHEMA, null, "child"));
            print("getProcedures", () -> data.getProcedures(SCHEMA, null, "%"));
            print("getProcedureColumns", () -> data.getProcedureColumns(SCHEMA, null, "%", "%"));
            print("getFunctions", () -> data.getFunctions(SCHEMA, null, "%"));
            print("getFunctionColumns", () -> data.getFunctionColumns(SCHEMA, null, "%", "%"));
            print("getUDTs", () -> data.getUDTs(SCHEMA, null, "%", null));
            print("getAttributes", () -> data.getAttributes(SCHEMA, null, "%", "%"));
            print("columns of a query", () -> describe(connection, "SELECT * FROM types"));
            print("columns of a view", () -> describe(connection, "SELECT * FROM seen"));
            print("columns that are computed", () -> describe(connection,
                    "SELECT CONCAT(vc, 'x'), COUNT(*), SUM(i), AVG(de), MAX(dt), MIN(en), NOW(3), 1 + 1, 1.5 * 2, JSON_OBJECT('a', 1) FROM types GROUP BY vc"));
        }
    }

    /** What a check prints. */
    private interface Answer {
        Object get() throws Exception;
    }

    private static String describe(Connection connection, String sql) throws SQLException {
        StringBuilder text = new StringBuilder();
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            ResultSetMetaData data = rows.getMetaData();
            for (int at = 1; at <= data.getColumnCount(); at++) {
                text.append(data.getColumnLabel(at)).append(' ').append(data.getColumnTypeName(at)).append(' ');
                text.append(data.getColumnType(at)).append(' ').append(data.getPrecision(at)).append(' ').append(data.getScale(at));
                text.append(' ').append(data.getColumnDisplaySize(at)).append(' ').append(data.isNullable(at)).append(' ');
                text.append(data.isSigned(at)).append(' ').append(data.isAutoIncrement(at)).append(' ');
                text.append(data.getColumnClassName(at)).append("\n");
            }
        }
        return text.toString();
    }

    private static void print(String name, Answer answer) {
        try {
            Object found = answer.get();
            if (!(found instanceof ResultSet)) {
                for (String line : String.valueOf(found).split("\n")) {
                    Results.ok(name + ": " + line);
                }
                return;
            }
            try (ResultSet rows = (ResultSet) found) {
                int width = rows.getMetaData().getColumnCount();
                StringBuilder head = new StringBuilder();
                for (int at = 1; at <= width; at++) {
                    head.append(rows.getMetaData().getColumnLabel(at)).append(' ');
                }
                Results.ok(name + ": columns " + head);
                int number = 0;
                while (rows.next()) {
                    StringBuilder line = new StringBuilder();
                    for (int at = 1; at <= width; at++) {
                        line.append(rows.getString(at)).append(" | ");
                    }
                    Results.ok(name + ": row " + line);
                    number++;
                }
                Results.ok(name + ": rows " + number);
            }
        } catch (InvocationTargetException error) {
            Results.ok(name + ": error " + error.getCause().getMessage());
        } catch (Exception error) {
            Results.ok(name + ": error " + error.getMessage());
        }
    }
}
