//! SHOW statements whose answer depends on nothing but the server's state as a whole.

use inia_base::collation::Collation;
use inia_base::column::ResultColumn;
use inia_base::datatype::{DataType, IntWidth};
use inia_base::error::{ErrorCode, SqlError};
use inia_base::temporal::DateTime;
use inia_expr::ExprType;
use inia_parser::ast::ShowKind;
use inia_query::account::privilege::DYNAMIC;
use inia_query::database::Database;
use inia_query::lock_history::FailedWait;
use std::fmt::Write;

/// A result set of texts.
pub(crate) struct Fixed {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
}

fn empty(columns: &[&'static str]) -> Fixed {
    Fixed { columns: columns.to_vec(), rows: Vec::new() }
}

/// Their columns that are no texts: INT UNSIGNED and BIGINT UNSIGNED.
const INTS: &[&str] = &[
    "Auto_Position",
    "Connect_Retry",
    "Get_Source_public_key",
    "Get_master_public_key",
    "Last_Errno",
    "Last_IO_Errno",
    "Last_SQL_Errno",
    "Master_Port",
    "Master_Server_Id",
    "Master_id",
    "Port",
    "Query_ID",
    "SQL_Delay",
    "SQL_Remaining_Delay",
    "Server_Id",
    "Server_id",
    "Skip_Counter",
    "Source_Id",
    "Source_Port",
    "Source_Server_Id",
];
const BIG_INTS: &[&str] = &[
    "End_log_pos",
    "Exec_Master_Log_Pos",
    "Exec_Source_Log_Pos",
    "Master_Retry_Count",
    "Pos",
    "Position",
    "Read_Master_Log_Pos",
    "Read_Source_Log_Pos",
    "Relay_Log_Pos",
    "Relay_Log_Space",
    "Seconds_Behind_Master",
    "Seconds_Behind_Source",
    "Source_Retry_Count",
    "Until_Log_Pos",
];

/// How a column of such an answer is described.
pub(crate) fn column(kind: &ShowKind, name: &str) -> ResultColumn {
    let int = |width| ExprType::of_column(DataType::Int { width, unsigned: true }, false);
    let width = match name {
        "Status" => Some(if matches!(kind, ShowKind::Profile(_)) { 30 } else { 10 }),
        "Type" => Some(10),
        _ => super::widths::fixed(name),
    };
    let mut ty = match name {
        "Duration" if matches!(kind, ShowKind::Profile(_)) => ExprType::decimal(9, 6, false, false),
        "Duration" => {
            ExprType::of_column(DataType::Double { decimals: Some(0), unsigned: true }, false)
        }
        name if INTS.contains(&name) => int(IntWidth::Int),
        name if BIG_INTS.contains(&name) => int(IntWidth::Big),
        _ => ExprType::text(1024, Collation::DEFAULT, false),
    };
    if let Some(width) = width {
        ty.length = width;
    }
    ty.result_column(name)
}

/// What is written in place of a statement that goes out of use: warning 1287.
pub(crate) fn deprecated(kind: &ShowKind) -> Option<(&'static str, &'static str)> {
    match kind {
        ShowKind::Profile(_) => Some(("SHOW PROFILE", "Performance Schema")),
        ShowKind::Profiles => Some(("SHOW PROFILES", "Performance Schema")),
        ShowKind::Replicas { old: true } => Some(("SHOW SLAVE HOSTS", "SHOW REPLICAS")),
        ShowKind::ReplicaStatus { old: true, .. } => {
            Some(("SHOW SLAVE STATUS", "SHOW REPLICA STATUS"))
        }
        _ => None,
    }
}

/// The answer to such a statement.
pub(crate) fn fixed(kind: &ShowKind, db: &Database) -> Option<Result<Fixed, SqlError>> {
    Some(Ok(match kind {
        ShowKind::Privileges => privileges(),
        ShowKind::Engine { name, what } => return Some(engine(name, what, db)),
        ShowKind::BinaryLogs => {
            return Some(Err(SqlError::new(ErrorCode::NoBinaryLogging, &[])));
        }
        ShowKind::BinlogEvents { .. } => {
            empty(&["Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info"])
        }
        ShowKind::BinaryLogStatus => {
            empty(&["File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set"])
        }
        ShowKind::Replicas { old: false } => {
            empty(&["Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"])
        }
        ShowKind::Replicas { old: true } => {
            empty(&["Server_id", "Host", "Port", "Master_id", "Slave_UUID"])
        }
        ShowKind::ReplicaStatus { channel: Some(channel), .. } if !channel.is_empty() => {
            return Some(Err(SqlError::new(ErrorCode::SlaveChannelDoesNotExist, &[channel])));
        }
        ShowKind::ReplicaStatus { old, .. } => replica_status(*old),
        _ => return None,
    }))
}

/// Privilege, context, comment; dynamic privileges follow.
const STATIC_PRIVILEGES: &[[&str; 3]] = &[
    ["Alter", "Tables", "To alter the table"],
    ["Alter routine", "Functions,Procedures", "To alter or drop stored functions/procedures"],
    ["Create", "Databases,Tables,Indexes", "To create new databases and tables"],
    ["Create routine", "Databases", "To use CREATE FUNCTION/PROCEDURE"],
    ["Create role", "Server Admin", "To create new roles"],
    ["Create temporary tables", "Databases", "To use CREATE TEMPORARY TABLE"],
    ["Create view", "Tables", "To create new views"],
    ["Create user", "Server Admin", "To create new users"],
    ["Delete", "Tables", "To delete existing rows"],
    ["Drop", "Databases,Tables", "To drop databases, tables, and views"],
    ["Drop role", "Server Admin", "To drop roles"],
    ["Event", "Server Admin", "To create, alter, drop and execute events"],
    ["Execute", "Functions,Procedures", "To execute stored routines"],
    ["File", "File access on server", "To read and write files on the server"],
    [
        "Grant option",
        "Databases,Tables,Functions,Procedures",
        "To give to other users those privileges you possess",
    ],
    ["Index", "Tables", "To create or drop indexes"],
    ["Insert", "Tables", "To insert data into tables"],
    ["Lock tables", "Databases", "To use LOCK TABLES (together with SELECT privilege)"],
    ["Process", "Server Admin", "To view the plain text of currently executing queries"],
    ["Proxy", "Server Admin", "To make proxy user possible"],
    ["References", "Databases,Tables", "To have references on tables"],
    ["Reload", "Server Admin", "To reload or refresh tables, logs and privileges"],
    ["Replication client", "Server Admin", "To ask where the slave or master servers are"],
    ["Replication slave", "Server Admin", "To read binary log events from the master"],
    ["Select", "Tables", "To retrieve rows from table"],
    ["Show databases", "Server Admin", "To see all databases with SHOW DATABASES"],
    ["Show view", "Tables", "To see views with SHOW CREATE VIEW"],
    ["Shutdown", "Server Admin", "To shut down the server"],
    ["Super", "Server Admin", "To use KILL thread, SET GLOBAL, CHANGE MASTER, etc."],
    ["Trigger", "Tables", "To use triggers"],
    ["Create tablespace", "Server Admin", "To create/alter/drop tablespaces"],
    ["Update", "Tables", "To update existing rows"],
    ["Usage", "Server Admin", "No privileges - allow connect only"],
];

fn privileges() -> Fixed {
    let fixed = STATIC_PRIVILEGES.iter().map(|row| row.map(str::to_owned).to_vec());
    let dynamic = DYNAMIC
        .iter()
        .map(|name| vec![(*name).to_owned(), String::from("Server Admin"), String::new()]);
    Fixed { columns: vec!["Privilege", "Context", "Comment"], rows: fixed.chain(dynamic).collect() }
}

fn engine(name: &str, what: &str, db: &Database) -> Result<Fixed, SqlError> {
    let known =
        ["innodb", "performance_schema", "myisam", "mrg_myisam", "memory", "csv", "archive"];
    let known = known.iter().chain(&["blackhole", "all"]);
    if !known.clone().any(|engine| engine.eq_ignore_ascii_case(name)) {
        return Err(SqlError::new(ErrorCode::UnknownStorageEngine, &[&name]));
    }
    let mut answer = empty(&["Type", "Name", "Status"]);
    let is = |engine: &str| ["all", engine].iter().any(|one| one.eq_ignore_ascii_case(name));
    if what == "STATUS" && is("innodb") {
        answer.rows.push(vec![String::from("InnoDB"), String::new(), status(db)]);
    }
    if what == "STATUS" && is("performance_schema") {
        // Its tables are computed when they are read.
        let memory = ["performance_schema", "performance_schema.memory", "0"];
        answer.rows.push(memory.map(str::to_owned).to_vec());
    }
    Ok(answer)
}

/// What the storage engine is doing, under the headings that tools look for.
fn status(db: &Database) -> String {
    let stats = db.engine.stats();
    let line = "=====================================";
    let mut out = format!("\n{line}\nINNODB MONITOR OUTPUT\n{line}\n");
    let heading = |out: &mut String, title: &str| {
        let rule = "-".repeat(title.len());
        let _ = writeln!(out, "{rule}\n{title}\n{rule}");
    };
    if let Some(failed) = db.lock_history.last_deadlock() {
        heading(&mut out, "LATEST DETECTED DEADLOCK");
        deadlock(&mut out, &failed);
    }
    heading(&mut out, "TRANSACTIONS");
    let _ = writeln!(out, "Trx id counter {}", stats.next_txn.0);
    let _ = writeln!(out, "Purge done for trx's n:o < {}", stats.low_water.0);
    let _ = writeln!(out, "History list length {}", stats.history_length);
    out.push_str("LIST OF TRANSACTIONS FOR EACH SESSION:\n");
    for txn in db.engine.active_transactions() {
        let _ = writeln!(out, "---TRANSACTION {}, ACTIVE {} sec", txn.txn.0, txn.age_secs);
        if txn.waiting {
            out.push_str("LOCK WAIT ");
        }
        let _ =
            writeln!(out, "{} lock struct(s), undo log entries {}", txn.locks, txn.rows_modified);
    }
    for stuck in db.engine.stuck_rollbacks() {
        let _ = writeln!(out, "---ROLLING BACK fails, dropped tables keep their space: {stuck}");
    }
    heading(&mut out, "LOCKS");
    let _ = writeln!(
        out,
        "{} waits, {} microseconds waited, {} deadlocks, {} timeouts",
        stats.lock_waits, stats.lock_wait_micros, stats.deadlocks, stats.lock_timeouts
    );
    heading(&mut out, "LOG");
    let _ = writeln!(out, "Log flushed up to   {}", stats.durable_lsn.0);
    heading(&mut out, "ROW OPERATIONS");
    // Nobody waits to be let in: there is no limit to how many statements work.
    out.push_str("0 queries inside InnoDB, 0 queries in queue\n");
    let rule = "----------------------------";
    let _ = write!(out, "{rule}\nEND OF INNODB MONITOR OUTPUT\n{line}\n");
    out
}

/// The transactions of a deadlock, the one that was rolled back last.
fn deadlock(out: &mut String, failed: &FailedWait) {
    let utc = DateTime::from_unix(failed.at.div_euclid(1_000_000), 0).unwrap_or(DateTime::ZERO);
    let _ = writeln!(out, "{}", utc.text(0));
    let parties = failed.blockers.iter().chain([&failed.waiter]);
    for (number, party) in (1..).zip(parties) {
        let _ = writeln!(out, "*** ({number}) TRANSACTION:\nTRANSACTION {}, ACTIVE", party.txn);
        let _ = writeln!(out, "MySQL thread id {}", party.connection);
        let _ = writeln!(out, "{}\n", party.statement.as_deref().unwrap_or_default());
    }
    let _ = writeln!(out, "*** WE ROLL BACK TRANSACTION ({})", failed.blockers.len() + 1);
}

/// The columns of SHOW REPLICA STATUS.
const REPLICA_STATUS: &[&str] = &[
    "Replica_IO_State",
    "Source_Host",
    "Source_User",
    "Source_Port",
    "Connect_Retry",
    "Source_Log_File",
    "Read_Source_Log_Pos",
    "Relay_Log_File",
    "Relay_Log_Pos",
    "Relay_Source_Log_File",
    "Replica_IO_Running",
    "Replica_SQL_Running",
    "Replicate_Do_DB",
    "Replicate_Ignore_DB",
    "Replicate_Do_Table",
    "Replicate_Ignore_Table",
    "Replicate_Wild_Do_Table",
    "Replicate_Wild_Ignore_Table",
    "Last_Errno",
    "Last_Error",
    "Skip_Counter",
    "Exec_Source_Log_Pos",
    "Relay_Log_Space",
    "Until_Condition",
    "Until_Log_File",
    "Until_Log_Pos",
    "Source_SSL_Allowed",
    "Source_SSL_CA_File",
    "Source_SSL_CA_Path",
    "Source_SSL_Cert",
    "Source_SSL_Cipher",
    "Source_SSL_Key",
    "Seconds_Behind_Source",
    "Source_SSL_Verify_Server_Cert",
    "Last_IO_Errno",
    "Last_IO_Error",
    "Last_SQL_Errno",
    "Last_SQL_Error",
    "Replicate_Ignore_Server_Ids",
    "Source_Server_Id",
    "Source_UUID",
    "Source_Info_File",
    "SQL_Delay",
    "SQL_Remaining_Delay",
    "Replica_SQL_Running_State",
    "Source_Retry_Count",
    "Source_Bind",
    "Last_IO_Error_Timestamp",
    "Last_SQL_Error_Timestamp",
    "Source_SSL_Crl",
    "Source_SSL_Crlpath",
    "Retrieved_Gtid_Set",
    "Executed_Gtid_Set",
    "Auto_Position",
    "Replicate_Rewrite_DB",
    "Channel_Name",
    "Source_TLS_Version",
    "Source_public_key_path",
    "Get_Source_public_key",
    "Network_Namespace",
];

/// The columns of SHOW SLAVE STATUS.
const SLAVE_STATUS: &[&str] = &[
    "Slave_IO_State",
    "Master_Host",
    "Master_User",
    "Master_Port",
    "Connect_Retry",
    "Master_Log_File",
    "Read_Master_Log_Pos",
    "Relay_Log_File",
    "Relay_Log_Pos",
    "Relay_Master_Log_File",
    "Slave_IO_Running",
    "Slave_SQL_Running",
    "Replicate_Do_DB",
    "Replicate_Ignore_DB",
    "Replicate_Do_Table",
    "Replicate_Ignore_Table",
    "Replicate_Wild_Do_Table",
    "Replicate_Wild_Ignore_Table",
    "Last_Errno",
    "Last_Error",
    "Skip_Counter",
    "Exec_Master_Log_Pos",
    "Relay_Log_Space",
    "Until_Condition",
    "Until_Log_File",
    "Until_Log_Pos",
    "Master_SSL_Allowed",
    "Master_SSL_CA_File",
    "Master_SSL_CA_Path",
    "Master_SSL_Cert",
    "Master_SSL_Cipher",
    "Master_SSL_Key",
    "Seconds_Behind_Master",
    "Master_SSL_Verify_Server_Cert",
    "Last_IO_Errno",
    "Last_IO_Error",
    "Last_SQL_Errno",
    "Last_SQL_Error",
    "Replicate_Ignore_Server_Ids",
    "Master_Server_Id",
    "Master_UUID",
    "Master_Info_File",
    "SQL_Delay",
    "SQL_Remaining_Delay",
    "Slave_SQL_Running_State",
    "Master_Retry_Count",
    "Master_Bind",
    "Last_IO_Error_Timestamp",
    "Last_SQL_Error_Timestamp",
    "Master_SSL_Crl",
    "Master_SSL_Crlpath",
    "Retrieved_Gtid_Set",
    "Executed_Gtid_Set",
    "Auto_Position",
    "Replicate_Rewrite_DB",
    "Channel_Name",
    "Master_TLS_Version",
    "Master_public_key_path",
    "Get_master_public_key",
    "Network_Namespace",
];

fn replica_status(old: bool) -> Fixed {
    empty(if old { SLAVE_STATUS } else { REPLICA_STATUS })
}
