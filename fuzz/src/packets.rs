//! What a client or a server sends: framing, logins, requests, and what follows them.

use inia_wire::caps::Capabilities;
use inia_wire::command::Command;
use inia_wire::handshake::{FirstPacket, Greeting, decode_auth_switch};
use inia_wire::packet::PacketReader;

pub fn run(data: &[u8]) {
    for caps in [Capabilities::SERVER, Capabilities::CLIENT, Capabilities::default()] {
        payload(data, caps);
    }
    let mut reader = PacketReader::new(1 << 20);
    let mut rest = data;
    loop {
        match reader.next_packet() {
            Ok(Some(packet)) => payload(reader.payload(packet), Capabilities::SERVER),
            Ok(None) if rest.is_empty() => break,
            Ok(None) => {
                let space = reader.space();
                let n = rest.len().min(space.len()).min(77);
                space[..n].copy_from_slice(&rest[..n]);
                reader.received(n);
                rest = &rest[n..];
            }
            Err(_) => break,
        }
    }
}

fn payload(data: &[u8], caps: Capabilities) {
    let _ = Command::decode(data, caps);
    let _ = FirstPacket::decode(data, caps);
    let _ = Greeting::decode(data);
    let _ = decode_auth_switch(data);
}
