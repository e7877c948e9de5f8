//! Time zones.

/// A session's time zone.
#[derive(Clone, Debug)]
pub struct TimeZone {
    offset: i32,
}

impl TimeZone {
    /// `+00:00`.
    pub const UTC: TimeZone = TimeZone { offset: 0 };

    /// Seconds east of UTC at a moment given in UTC seconds.
    pub fn offset_at(&self, _utc_seconds: i64) -> i32 {
        self.offset
    }

    /// The UTC moment of a local time given as seconds since 1970 as if it were UTC.
    pub fn to_utc(&self, local_seconds: i64) -> i64 {
        local_seconds - i64::from(self.offset)
    }
}
