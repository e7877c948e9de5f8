package clients;

import static clients.Results.check;
import static clients.Results.equal;
import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.using;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import liquibase.Contexts;
import liquibase.Liquibase;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.ClassLoaderResourceAccessor;
import org.flywaydb.core.Flyway;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.jooq.DSLContext;
import org.jooq.Meta;
import org.jooq.SQLDialect;

/** What applications do by a pool, a mapper, a query builder and migration tools. */
public final class Frameworks {
    private static final String SCHEMA = "java_clients";

    private Frameworks() {}

    /** An order of an application. */
    @Entity
    @Table(name = "purchase")
    public static class Purchase {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        Long id;

        String customer;
        BigDecimal total;
        LocalDateTime made;

        @Version
        int version;

        @OneToMany(mappedBy = "purchase", cascade = jakarta.persistence.CascadeType.ALL)
        List<Item> items = new ArrayList<>();
    }

    /** A part of an order. */
    @Entity
    @Table(name = "item")
    public static class Item {
        @Id
        @GeneratedValue(strategy = GenerationType.SEQUENCE)
        Long id;

        String product;

        @ManyToOne(optional = false)
        Purchase purchase;
    }

    public static void main(String[] args) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(args[0]);
        config.setMaximumPoolSize(8);
        try (HikariDataSource server = new HikariDataSource(config)) {
            execute(server, "DROP DATABASE IF EXISTS " + SCHEMA, "CREATE DATABASE " + SCHEMA);
        }
        config.setCatalog(SCHEMA);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            check("hikari: many threads", () -> threads(pool));
            check("hikari: a connection is clean again", () -> clean(pool));
            check("jdbc: batches and generated keys", () -> batches(pool));
            check("jdbc: rows are streamed", () -> streams(pool));
            check("flyway: migrates, validates and repeats", () -> flyway(pool));
            check("liquibase: updates and rolls back", () -> liquibase(pool));
            check("jooq: reads definitions", () -> jooqMeta(pool));
            check("jooq: upserts, windows and common table expressions", () -> jooq(pool));
            check("hibernate: makes the schema, stores and queries", () -> hibernate(pool, "create-only"));
            check("hibernate: validates the schema", () -> hibernate(pool, "validate"));
            check("hibernate: updates the schema", () -> hibernate(pool, "update"));
        }
    }

    private static void execute(HikariDataSource pool, String... statements) throws Exception {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    private static long number(HikariDataSource pool, String sql) throws Exception {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private static void threads(HikariDataSource pool) throws Exception {
        execute(pool, "CREATE TABLE counter (id INT PRIMARY KEY, n INT NOT NULL)", "INSERT INTO counter VALUES (1, 0)");
        ExecutorService threads = Executors.newFixedThreadPool(16);
        List<Future<?>> work = new ArrayList<>();
        for (int thread = 0; thread < 16; thread++) {
            work.add(threads.submit(() -> {
                for (int round = 0; round < 20; round++) {
                    execute(pool, "UPDATE counter SET n = n + 1 WHERE id = 1");
                }
                return null;
            }));
        }
        for (Future<?> one : work) {
            one.get();
        }
        threads.shutdown();
        equal(320L, number(pool, "SELECT n FROM counter"));
    }

    private static void clean(HikariDataSource pool) throws Exception {
        for (int round = 0; round < 20; round++) {
            try (Connection connection = pool.getConnection()) {
                equal(Connection.TRANSACTION_REPEATABLE_READ, connection.getTransactionIsolation());
                equal(true, connection.getAutoCommit());
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                connection.setReadOnly(true);
                connection.setAutoCommit(false);
            }
        }
    }

    private static void batches(HikariDataSource pool) throws Exception {
        execute(pool, "CREATE TABLE batch (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20), b BLOB)");
        try (Connection connection = pool.getConnection();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO batch (v, b) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
            for (int row = 0; row < 50; row++) {
                insert.setString(1, "row " + row + " é日😀");
                insert.setBytes(2, new byte[] {0, (byte) row, -1});
                insert.addBatch();
            }
            equal(50, insert.executeBatch().length);
            ResultSet keys = insert.getGeneratedKeys();
            for (int row = 1; row <= 50; row++) {
                equal(true, keys.next());
                equal(row, keys.getInt(1));
            }
        }
        equal(50L, number(pool, "SELECT COUNT(*) FROM batch WHERE LENGTH(b) = 3"));
    }

    private static void streams(HikariDataSource pool) throws Exception {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            statement.setFetchSize(Integer.MIN_VALUE);
            int rows = 0;
            try (ResultSet result = statement.executeQuery("SELECT a.id FROM batch a, batch b, batch c LIMIT 20000")) {
                while (result.next()) {
                    rows++;
                }
            }
            equal(20000, rows);
        }
    }

    private static void flyway(HikariDataSource pool) throws Exception {
        Flyway flyway = Flyway.configure().dataSource(pool).baselineOnMigrate(true).baselineVersion("0").load();
        equal(2, flyway.migrate().migrationsExecuted);
        flyway.validate();
        equal(0, flyway.migrate().migrationsExecuted);
        equal(2L, number(pool, "SELECT COUNT(*) FROM migrated"));
    }

    private static void liquibase(HikariDataSource pool) throws Exception {
        try (Connection connection = pool.getConnection()) {
            Liquibase liquibase = new Liquibase("db/changelog.sql", new ClassLoaderResourceAccessor(), new JdbcConnection(connection));
            liquibase.update(new Contexts());
            equal(1L, number(pool, "SELECT COUNT(*) FROM changed WHERE name = 'first'"));
            liquibase.validate();
            liquibase.rollback(1, "");
            equal(0L, number(pool, "SELECT COUNT(*) FROM changed"));
        }
    }

    private static void jooqMeta(HikariDataSource pool) throws Exception {
        try (Connection connection = pool.getConnection()) {
            Meta meta = using(connection, SQLDialect.MYSQL).meta();
            equal(3, meta.getTables(name(SCHEMA, "batch")).get(0).fields().length);
            equal(1, meta.getTables(name(SCHEMA, "batch")).get(0).getPrimaryKey().getFields().size());
        }
    }

    private static void jooq(HikariDataSource pool) throws Exception {
        try (Connection connection = pool.getConnection()) {
            DSLContext sql = using(connection, SQLDialect.MYSQL);
            sql.createTable("sale").column("id", org.jooq.impl.SQLDataType.INTEGER.notNull())
                    .column("amount", org.jooq.impl.SQLDataType.DECIMAL(10, 2)).primaryKey("id").execute();
            for (int round = 0; round < 2; round++) {
                sql.insertInto(table("sale"), field("id", Integer.class), field("amount", BigDecimal.class)).values(1, BigDecimal.ONE)
                        .onDuplicateKeyUpdate().set(field("amount", BigDecimal.class), BigDecimal.TEN).execute();
            }
            equal(BigDecimal.TEN.setScale(2), sql.select(field("amount", BigDecimal.class)).from("sale").fetchOne().value1());
            equal(1, sql.with("c").as(sql.select(field("id")).from("sale")).select(count()).from(name("c")).fetchOne().value1());
            equal(1, sql.select(org.jooq.impl.DSL.rowNumber().over().orderBy(field("id"))).from("sale").fetch().size());
            sql.transaction(inner -> inner.dsl().deleteFrom(table("sale")).execute());
            equal(0, sql.fetchCount(table("sale")));
        }
    }

    private static void hibernate(HikariDataSource pool, String schema) throws Exception {
        Configuration configuration = new Configuration().addAnnotatedClass(Purchase.class).addAnnotatedClass(Item.class);
        configuration.getProperties().put("hibernate.connection.datasource", pool);
        configuration.setProperty("hibernate.hbm2ddl.auto", schema).setProperty("hibernate.hbm2ddl.halt_on_error", "true");
        try (SessionFactory factory = configuration.buildSessionFactory()) {
            factory.inTransaction(session -> {
                Purchase purchase = new Purchase();
                purchase.customer = "Ada";
                purchase.total = new BigDecimal("12.50");
                purchase.made = LocalDateTime.of(2026, 1, 2, 3, 4, 5);
                Item item = new Item();
                item.product = "pen";
                item.purchase = purchase;
                purchase.items.add(item);
                session.persist(purchase);
            });
            factory.inTransaction(session -> {
                List<Purchase> found = session.createSelectionQuery(
                        "select distinct p from Frameworks$Purchase p join fetch p.items i where i.product like 'p%' order by p.id", Purchase.class)
                        .setMaxResults(10).getResultList();
                equal("Ada", found.get(0).customer);
                found.get(0).total = found.get(0).total.add(BigDecimal.ONE);
            });
            factory.inTransaction(session -> {
                Object[] sums = session.createSelectionQuery(
                        "select count(p), max(p.version) from Frameworks$Purchase p", Object[].class).getSingleResult();
                equal(true, ((Number) sums[1]).intValue() >= 1);
            });
        }
    }
}
