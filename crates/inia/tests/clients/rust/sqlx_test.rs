//! What sqlx's own tests expect of a crate `sqlx_test` that sqlx's package does not bring:
//! connections to `DATABASE_URL`, and macros that make a test of a type from texts of SQL and the
//! values that they are.

use sqlx::pool::PoolOptions;
use sqlx::{Connection, Database, Pool};

#[doc(hidden)]
pub use {anyhow, paste, sqlx};

/// Starts what the tests log to.
pub fn setup_if_needed() {
    drop(env_logger::builder().is_test(true).try_init());
}

fn url() -> sqlx::Result<String> {
    std::env::var("DATABASE_URL").map_err(|error| sqlx::Error::Configuration(error.into()))
}

/// A connection to `DATABASE_URL`.
pub async fn new<DB: Database>() -> sqlx::Result<DB::Connection> {
    setup_if_needed();
    DB::Connection::connect(&url()?).await
}

/// A small pool of them.
pub async fn pool<DB: Database>() -> sqlx::Result<Pool<DB>> {
    setup_if_needed();
    PoolOptions::new().max_connections(5).connect(&url()?).await
}

/// The value of each text is read by the text protocol and by the binary one.
#[macro_export]
macro_rules! test_type {
    ($name:ident<$type:ty>($db:ident, $query:literal, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_prepared_type!($name<$type>($db, $query, $($text == $value),+));
        $crate::test_unprepared_type!($name<$type>($db, $($text == $value),+));
    };
    ($name:ident<$type:ty>($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_prepared_type!($name<$type>($db, $($text == $value),+));
        $crate::test_unprepared_type!($name<$type>($db, $($text == $value),+));
    };
    ($name:ident($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_type!($name<$name>($db, $($text == $value),+));
    };
}

/// The value of each text, as the text protocol has it.
#[macro_export]
macro_rules! test_unprepared_type {
    ($name:ident<$type:ty>($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::paste::paste! {
            #[sqlx::test]
            async fn [<test_unprepared_type_ $name>]() -> $crate::anyhow::Result<()> {
                use $crate::sqlx::{AssertSqlSafe, Row};
                let mut conn = $crate::new::<$db>().await?;
                $(
                    let text = AssertSqlSafe(format!("SELECT {} AS _1", $text));
                    let row = $crate::sqlx::raw_sql(text).fetch_one(&mut conn).await?;
                    assert_eq!($value, row.try_get::<$type, _>("_1")?, "{}", $text);
                )+
                Ok(())
            }
        }
    };
}

/// Each value as a parameter: equal to its text on the server, and the same in the answer.
#[macro_export]
macro_rules! test_prepared_type {
    ($name:ident<$type:ty>($db:ident, $query:literal, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::paste::paste! {
            #[sqlx::test]
            async fn [<test_prepared_type_ $name>]() -> $crate::anyhow::Result<()> {
                use $crate::sqlx::{AssertSqlSafe, Row};
                let mut conn = $crate::new::<$db>().await?;
                $(
                    let text = AssertSqlSafe(format!($query, $text));
                    let query = $crate::sqlx::query(text).bind($value).bind($value);
                    let row = query.fetch_one(&mut conn).await?;
                    assert!(row.try_get::<bool, _>(0)?, "{} is not equal", $text);
                    assert_eq!($value, row.try_get::<$type, _>("_2")?, "{}", $text);
                    assert_eq!($value, row.try_get::<$type, _>("_3")?, "{}", $text);
                )+
                Ok(())
            }
        }
    };
    ($name:ident<$type:ty>($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_prepared_type!($name<$type>(
            $db,
            "SELECT CAST({0} <=> ? AS SIGNED INTEGER), {0} AS _2, ? AS _3",
            $($text == $value),+
        ));
    };
    ($name:ident($db:ident, $($text:literal == $value:expr),+ $(,)?)) => {
        $crate::test_prepared_type!($name<$name>($db, $($text == $value),+));
    };
}
