//! Capability flags of the handshake.

/// A set of capability flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Capabilities(pub u32);

macro_rules! capabilities {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        impl Capabilities {
            $($(#[$doc])* pub const $name: Capabilities = Capabilities(1 << $bit);)*
        }
    };
}

capabilities! {
    /// Always set by MySQL; its absence marks MariaDB's extensions.
    LONG_PASSWORD = 0;
    /// Affected rows count matched rows.
    FOUND_ROWS = 1;
    /// Column flags have two bytes.
    LONG_FLAG = 2;
    /// The login names a database.
    CONNECT_WITH_DB = 3;
    /// `db.table.column` is not allowed.
    NO_SCHEMA = 4;
    /// zlib compression.
    COMPRESS = 5;
    /// An ODBC client.
    ODBC = 6;
    /// LOAD DATA LOCAL.
    LOCAL_FILES = 7;
    /// Spaces before `(` are ignored.
    IGNORE_SPACE = 8;
    /// The protocol of MySQL 4.1 and later.
    PROTOCOL_41 = 9;
    /// interactive_timeout instead of wait_timeout.
    INTERACTIVE = 10;
    /// Switch to TLS after the greeting.
    SSL = 11;
    /// The client ignores SIGPIPE.
    IGNORE_SIGPIPE = 12;
    /// Status flags in OK and EOF.
    TRANSACTIONS = 13;
    /// Formerly 4.1 protocol.
    RESERVED = 14;
    /// 20-byte scrambles.
    SECURE_CONNECTION = 15;
    /// Several statements in one text.
    MULTI_STATEMENTS = 16;
    /// Several results of one text.
    MULTI_RESULTS = 17;
    /// Several results of one prepared statement.
    PS_MULTI_RESULTS = 18;
    /// Authentication plugins.
    PLUGIN_AUTH = 19;
    /// Connection attributes in the login.
    CONNECT_ATTRS = 20;
    /// The scramble's length is length-encoded.
    PLUGIN_AUTH_LENENC = 21;
    /// The client can log in with an expired password.
    CAN_HANDLE_EXPIRED_PASSWORDS = 22;
    /// Session changes in OK packets.
    SESSION_TRACK = 23;
    /// OK packets instead of EOF packets.
    DEPRECATE_EOF = 24;
    /// Column definitions may be left out.
    OPTIONAL_RESULTSET_METADATA = 25;
    /// zstd compression.
    ZSTD_COMPRESSION = 26;
    /// Attributes in COM_QUERY and COM_STMT_EXECUTE.
    QUERY_ATTRIBUTES = 27;
    /// Authentication with several factors.
    MULTI_FACTOR_AUTHENTICATION = 28;
}

impl Capabilities {
    /// Whether every flag of `other` is set.
    #[inline]
    pub fn has(self, other: Capabilities) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    pub const fn with(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    /// This set without `other`.
    pub const fn without(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & !other.0)
    }

    /// The flags in both sets.
    pub const fn common(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & other.0)
    }

    /// What Inia's server offers; SSL is added where a certificate is ready.
    pub const SERVER: Capabilities = Capabilities::LONG_PASSWORD
        .with(Capabilities::FOUND_ROWS)
        .with(Capabilities::LONG_FLAG)
        .with(Capabilities::CONNECT_WITH_DB)
        .with(Capabilities::NO_SCHEMA)
        .with(Capabilities::COMPRESS)
        .with(Capabilities::ZSTD_COMPRESSION)
        .with(Capabilities::ODBC)
        .with(Capabilities::LOCAL_FILES)
        .with(Capabilities::IGNORE_SPACE)
        .with(Capabilities::PROTOCOL_41)
        .with(Capabilities::INTERACTIVE)
        .with(Capabilities::IGNORE_SIGPIPE)
        .with(Capabilities::TRANSACTIONS)
        .with(Capabilities::RESERVED)
        .with(Capabilities::SECURE_CONNECTION)
        .with(Capabilities::MULTI_STATEMENTS)
        .with(Capabilities::MULTI_RESULTS)
        .with(Capabilities::PS_MULTI_RESULTS)
        .with(Capabilities::PLUGIN_AUTH)
        .with(Capabilities::CONNECT_ATTRS)
        .with(Capabilities::PLUGIN_AUTH_LENENC)
        .with(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS)
        .with(Capabilities::SESSION_TRACK)
        .with(Capabilities::DEPRECATE_EOF)
        .with(Capabilities::QUERY_ATTRIBUTES);

    /// What Inia's own client asks for of what the server offers.
    pub const CLIENT: Capabilities = Capabilities::LONG_PASSWORD
        .with(Capabilities::LONG_FLAG)
        .with(Capabilities::PROTOCOL_41)
        .with(Capabilities::TRANSACTIONS)
        .with(Capabilities::SECURE_CONNECTION)
        .with(Capabilities::MULTI_STATEMENTS)
        .with(Capabilities::MULTI_RESULTS)
        .with(Capabilities::PS_MULTI_RESULTS)
        .with(Capabilities::PLUGIN_AUTH)
        .with(Capabilities::CONNECT_ATTRS)
        .with(Capabilities::PLUGIN_AUTH_LENENC)
        .with(Capabilities::SESSION_TRACK)
        .with(Capabilities::DEPRECATE_EOF);
}
