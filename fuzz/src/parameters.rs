//! The parameters of COM_STMT_EXECUTE: the first byte says how many and in which character set.

use inia_base::collation::Charset;
use inia_wire::caps::Capabilities;
use inia_wire::params::Params;

pub fn run(data: &[u8]) {
    let Some((head, body)) = data.split_first() else { return };
    let charset = if head & 0x40 == 0 { Charset::Utf8mb4 } else { Charset::Latin1 };
    let caps = if head & 0x80 == 0 { Capabilities::SERVER } else { Capabilities::default() };
    let mut params = Params::new(usize::from(head & 0x0f));
    if head & 0x20 != 0 {
        params.add_long_data(1, b"long data", 5, 100);
    }
    let mut values = Vec::new();
    // The second execution may leave the types out.
    for _ in 0..2 {
        let _ = params.decode(body, head >> 4, caps, charset, &mut values);
    }
    params.reset();
}
