//! TPC-C's twelve conditions of consistency (clause 3.3.2): queries that count what breaks them.

use crate::session::Session;
use crate::target::{Failure, Result};

/// Each query counts rows that break the condition; numbers are the standard's.
const CONDITIONS: [(u32, &str); 13] = [
    (
        1,
        "SELECT COUNT(*) FROM warehouse JOIN (SELECT d_w_id, SUM(d_ytd) AS total FROM district \
         GROUP BY d_w_id) s ON d_w_id = w_id WHERE ABS(w_ytd - total) > 0.005",
    ),
    (
        2,
        "SELECT COUNT(*) FROM district JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS last FROM orders \
         GROUP BY o_w_id, o_d_id) s ON o_w_id = d_w_id AND o_d_id = d_id \
         WHERE d_next_o_id <> last + 1",
    ),
    (
        2,
        "SELECT COUNT(*) FROM district JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last \
         FROM new_order GROUP BY no_w_id, no_d_id) s ON no_w_id = d_w_id AND no_d_id = d_id \
         WHERE d_next_o_id <> last + 1",
    ),
    (
        3,
        "SELECT COUNT(*) FROM (SELECT no_w_id, no_d_id, COUNT(*) AS n, MAX(no_o_id) AS last, \
         MIN(no_o_id) AS first FROM new_order GROUP BY no_w_id, no_d_id) s \
         WHERE last - first + 1 <> n",
    ),
    (
        4,
        "SELECT COUNT(*) FROM (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS counted FROM orders \
         GROUP BY o_w_id, o_d_id) o JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS held \
         FROM order_line GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = o_w_id AND ol_d_id = o_d_id \
         WHERE counted <> held",
    ),
    (
        5,
        "SELECT COUNT(*) FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id \
         AND no_o_id = o_id WHERE (o_carrier_id IS NULL AND no_o_id IS NULL) \
         OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)",
    ),
    (
        6,
        "SELECT COUNT(*) FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS n \
         FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON ol_w_id = o_w_id \
         AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE n IS NULL OR n <> o_ol_cnt",
    ),
    (
        7,
        "SELECT COUNT(*) FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id \
         AND o_id = ol_o_id WHERE (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) \
         OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)",
    ),
    (
        8,
        "SELECT COUNT(*) FROM warehouse JOIN (SELECT h_w_id, SUM(h_amount) AS total FROM history \
         GROUP BY h_w_id) s ON h_w_id = w_id WHERE ABS(w_ytd - total) > 0.005",
    ),
    (
        9,
        "SELECT COUNT(*) FROM district JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS total \
         FROM history GROUP BY h_w_id, h_d_id) s ON h_w_id = d_w_id AND h_d_id = d_id \
         WHERE ABS(d_ytd - total) > 0.005",
    ),
    (
        10,
        "SELECT COUNT(*) FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, \
         SUM(h_amount) AS paid FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) h \
         ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id \
         LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS total FROM orders \
         JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
         WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) s \
         ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
         WHERE ABS(c_balance - COALESCE(total, 0) + COALESCE(paid, 0)) > 0.005",
    ),
    // The standard's difference of 2,100 is that of the first rows; each delivery adds one.
    (
        11,
        "SELECT COUNT(*) FROM (SELECT o_w_id, o_d_id, COUNT(*) AS held FROM orders \
         GROUP BY o_w_id, o_d_id) o LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS waiting \
         FROM new_order GROUP BY no_w_id, no_d_id) n ON no_w_id = o_w_id AND no_d_id = o_d_id \
         JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS delivered FROM customer \
         GROUP BY c_w_id, c_d_id) c ON c_w_id = o_w_id AND c_d_id = o_d_id \
         WHERE held - COALESCE(waiting, 0) <> DELIVERED_FIRST + delivered",
    ),
    (
        12,
        "SELECT COUNT(*) FROM customer LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, \
         SUM(ol_amount) AS total FROM orders JOIN order_line ON ol_w_id = o_w_id \
         AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
         GROUP BY o_w_id, o_d_id, o_c_id) s ON o_w_id = c_w_id AND o_d_id = c_d_id \
         AND o_c_id = c_id WHERE ABS(c_balance + c_ytd_payment - COALESCE(total, 0)) > 0.005",
    ),
];

/// All conditions hold, or which one does not. Before the first day so many orders of each
/// district were delivered.
pub(super) fn check(session: &mut Session, delivered_first: u64) -> Result<()> {
    for (number, query) in CONDITIONS {
        let query = query.replace("DELIVERED_FIRST", &delivered_first.to_string());
        let broken = session.integer(&query).map_err(|failure| failure.during(&query))?;
        if broken != 0 {
            let message = format!("TPC-C consistency condition {number}: {broken} rows break it");
            return Err(Failure::wrong(message));
        }
    }
    Ok(())
}
