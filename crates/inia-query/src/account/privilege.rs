//! Privileges: the static ones as bits, the dynamic ones by name, declared once each.

use std::fmt::Write;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// A set of static privileges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Privileges(pub(crate) u64);

/// One line of the table of static privileges.
pub struct StaticPrivilege {
    /// Its name in GRANT.
    pub name: &'static str,
    /// Its column in `mysql.user`.
    pub(crate) column: &'static str,
    /// May be granted on a database.
    pub(crate) on_database: bool,
    /// May be granted on a table.
    pub(crate) on_table: bool,
}

macro_rules! privileges {
    ($(
        $bit:literal $constant:ident $name:literal $column:literal
        $database:literal $table:literal;
    )*) => {
        impl Privileges {
            $(#[doc = $name] pub const $constant: Privileges = Privileges(1 << $bit);)*
        }

        /// All static privileges but GRANT OPTION, in the order in which SHOW GRANTS names them;
        /// a privilege's bit is its position.
        pub(crate) const STATIC: &[StaticPrivilege] = &[
            $(StaticPrivilege {
                name: $name, column: $column, on_database: $database, on_table: $table,
            },)*
        ];
    };
}

#[rustfmt::skip]
privileges! {
    0 SELECT "SELECT" "Select_priv" true true;
    1 INSERT "INSERT" "Insert_priv" true true;
    2 UPDATE "UPDATE" "Update_priv" true true;
    3 DELETE "DELETE" "Delete_priv" true true;
    4 CREATE "CREATE" "Create_priv" true true;
    5 DROP "DROP" "Drop_priv" true true;
    6 RELOAD "RELOAD" "Reload_priv" false false;
    7 SHUTDOWN "SHUTDOWN" "Shutdown_priv" false false;
    8 PROCESS "PROCESS" "Process_priv" false false;
    9 FILE "FILE" "File_priv" false false;
    10 REFERENCES "REFERENCES" "References_priv" true true;
    11 INDEX "INDEX" "Index_priv" true true;
    12 ALTER "ALTER" "Alter_priv" true true;
    13 SHOW_DATABASES "SHOW DATABASES" "Show_db_priv" false false;
    14 SUPER "SUPER" "Super_priv" false false;
    15 CREATE_TEMPORARY_TABLES "CREATE TEMPORARY TABLES" "Create_tmp_table_priv" true false;
    16 LOCK_TABLES "LOCK TABLES" "Lock_tables_priv" true false;
    17 EXECUTE "EXECUTE" "Execute_priv" true false;
    18 REPLICATION_SLAVE "REPLICATION SLAVE" "Repl_slave_priv" false false;
    19 REPLICATION_CLIENT "REPLICATION CLIENT" "Repl_client_priv" false false;
    20 CREATE_VIEW "CREATE VIEW" "Create_view_priv" true true;
    21 SHOW_VIEW "SHOW VIEW" "Show_view_priv" true true;
    22 CREATE_ROUTINE "CREATE ROUTINE" "Create_routine_priv" true false;
    23 ALTER_ROUTINE "ALTER ROUTINE" "Alter_routine_priv" true false;
    24 CREATE_USER "CREATE USER" "Create_user_priv" false false;
    25 EVENT "EVENT" "Event_priv" true false;
    26 TRIGGER "TRIGGER" "Trigger_priv" true true;
    27 CREATE_TABLESPACE "CREATE TABLESPACE" "Create_tablespace_priv" false false;
    28 CREATE_ROLE "CREATE ROLE" "Create_role_priv" false false;
    29 DROP_ROLE "DROP ROLE" "Drop_role_priv" false false;
}

/// The dynamic privileges, in order.
pub const DYNAMIC: &[&str] = &[
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ABORT_EXEMPT",
    "AUDIT_ADMIN",
    "AUTHENTICATION_POLICY_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CLONE_ADMIN",
    "CONNECTION_ADMIN",
    "ENCRYPTION_KEY_ADMIN",
    "FIREWALL_EXEMPT",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "GROUP_REPLICATION_ADMIN",
    "GROUP_REPLICATION_STREAM",
    "INNODB_REDO_LOG_ARCHIVE",
    "INNODB_REDO_LOG_ENABLE",
    "PASSWORDLESS_USER_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "ROLE_ADMIN",
    "SENSITIVE_VARIABLES_OBSERVER",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_USER_ID",
    "SHOW_ROUTINE",
    "SYSTEM_USER",
    "SYSTEM_VARIABLES_ADMIN",
    "TABLE_ENCRYPTION_ADMIN",
    "XA_RECOVER_ADMIN",
];

const ALL_BITS: u64 = (1 << STATIC.len()) - 1;
const GRANT_BIT: u64 = 1 << STATIC.len();

impl Privileges {
    /// None.
    pub const NONE: Privileges = Privileges(0);
    /// GRANT OPTION.
    pub const GRANT: Privileges = Privileges(GRANT_BIT);
    /// Every static privilege, without GRANT OPTION.
    pub(crate) const ALL: Privileges = Privileges(ALL_BITS);

    /// What ALL means on a database.
    pub(crate) fn all_on_database() -> Privileges {
        collect(|privilege| privilege.on_database)
    }

    /// What may be granted on a procedure or a function.
    pub fn all_on_routine() -> Privileges {
        Privileges::EXECUTE | Privileges::ALTER_ROUTINE
    }

    /// What ALL means on a table.
    pub fn all_on_table() -> Privileges {
        collect(|privilege| privilege.on_table)
    }

    /// The privilege of that name.
    pub(crate) fn by_name(name: &str) -> Option<Privileges> {
        let position = STATIC.iter().position(|p| p.name.eq_ignore_ascii_case(name))?;
        Some(Privileges(1 << position))
    }

    /// Whether all of `wanted` are in the set.
    pub fn has(self, wanted: Privileges) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    /// Whether any of `wanted` is in the set.
    pub fn has_any(self, wanted: Privileges) -> bool {
        self.0 & wanted.0 != 0
    }

    /// The members without GRANT OPTION, in order.
    pub fn members(self) -> impl Iterator<Item = &'static StaticPrivilege> {
        STATIC.iter().enumerate().filter(move |(bit, _)| self.0 >> bit & 1 == 1).map(|(_, p)| p)
    }

    /// The list in GRANT: `USAGE`, `ALL PRIVILEGES` where the set is `all`, or the names.
    pub(crate) fn list(self, all: Privileges) -> String {
        let own = self & Privileges::ALL;
        if own == Privileges::NONE {
            return String::from("USAGE");
        }
        if own == all {
            return String::from("ALL PRIVILEGES");
        }
        let mut out = String::new();
        for privilege in own.members() {
            let separator = if out.is_empty() { "" } else { ", " };
            let _ = write!(out, "{separator}{}", privilege.name);
        }
        out
    }
}

fn collect(wanted: impl Fn(&StaticPrivilege) -> bool) -> Privileges {
    let bits = STATIC.iter().enumerate().filter(|(_, p)| wanted(p)).map(|(bit, _)| 1 << bit);
    Privileges(bits.sum())
}

impl BitOr for Privileges {
    type Output = Privileges;
    fn bitor(self, other: Privileges) -> Privileges {
        Privileges(self.0 | other.0)
    }
}

impl BitOrAssign for Privileges {
    fn bitor_assign(&mut self, other: Privileges) {
        self.0 |= other.0;
    }
}

impl BitAnd for Privileges {
    type Output = Privileges;
    fn bitand(self, other: Privileges) -> Privileges {
        Privileges(self.0 & other.0)
    }
}

impl BitAndAssign for Privileges {
    fn bitand_assign(&mut self, other: Privileges) {
        self.0 &= other.0;
    }
}

impl Not for Privileges {
    type Output = Privileges;
    fn not(self) -> Privileges {
        Privileges(!self.0)
    }
}
