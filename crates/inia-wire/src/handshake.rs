//! The connection phase: greeting, login, authentication switch and more-data packets.

use crate::auth::NONCE;
use crate::caps::Capabilities;
use crate::codec::{Reader, put_lenenc, put_lenenc_bytes, put_nul_bytes, put_u16, put_u32};
use crate::error::WireError;

/// The server's first packet, protocol version 10.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Version text.
    pub version: String,
    /// Id of the connection, also used by KILL.
    pub connection_id: u32,
    /// Random bytes without zeros that scrambles are made from.
    pub nonce: [u8; NONCE],
    /// What the server offers.
    pub capabilities: Capabilities,
    /// Default collation (its low byte).
    pub collation: u8,
    /// Status flags.
    pub status: u16,
    /// Default authentication plugin.
    pub plugin: String,
}

impl Greeting {
    /// Appends the packet's payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(10);
        put_nul_bytes(out, self.version.as_bytes());
        put_u32(out, self.connection_id);
        out.extend_from_slice(&self.nonce[..8]);
        out.push(0);
        put_u16(out, self.capabilities.0 as u16);
        out.push(self.collation);
        put_u16(out, self.status);
        put_u16(out, (self.capabilities.0 >> 16) as u16);
        out.push(NONCE as u8 + 1);
        out.extend_from_slice(&[0; 10]);
        out.extend_from_slice(&self.nonce[8..]);
        out.push(0);
        put_nul_bytes(out, self.plugin.as_bytes());
    }

    /// Reads the packet's payload.
    pub fn decode(payload: &[u8]) -> Result<Greeting, WireError> {
        let mut from = Reader::new(payload);
        if from.u8()? != 10 {
            return Err(WireError::BadHandshake);
        }
        let version = text(from.nul_bytes()?);
        let connection_id = from.u32()?;
        let mut nonce = [0; NONCE];
        nonce[..8].copy_from_slice(from.bytes(8)?);
        from.u8()?;
        let low = from.u16()?;
        let collation = from.u8()?;
        let status = from.u16()?;
        let capabilities = Capabilities(u32::from(low) | u32::from(from.u16()?) << 16);
        let nonce_len = from.u8()?;
        from.bytes(10)?;
        let second = from.bytes(usize::from(nonce_len).saturating_sub(8).max(13))?;
        nonce[8..].copy_from_slice(&second[..12]);
        let plugin = text(from.nul_or_rest());
        Ok(Greeting { version, connection_id, nonce, capabilities, collation, status, plugin })
    }
}

/// The client's first full packet (HandshakeResponse41).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Login {
    /// What the client asks for.
    pub capabilities: Capabilities,
    /// The client's limit on packets; 0 if it gives none.
    pub max_packet: u32,
    /// Collation of the connection.
    pub collation: u8,
    /// Account name.
    pub user: String,
    /// Reply to the nonce.
    pub auth: Vec<u8>,
    /// Default database.
    pub database: Option<String>,
    /// The plugin that `auth` was made with; `None` if the client does not know plugins.
    pub plugin: Option<String>,
    /// Connection attributes.
    pub attributes: Vec<(String, String)>,
    /// Level of zstd compression asked for.
    pub zstd_level: u8,
}

/// What may come as a client's first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstPacket {
    /// The client switches to TLS now and sends its login again inside.
    SslRequest,
    /// The login.
    Login(Box<Login>),
}

impl FirstPacket {
    /// Reads the packet's payload; capabilities beyond `offered` are dropped.
    pub fn decode(payload: &[u8], offered: Capabilities) -> Result<FirstPacket, WireError> {
        FirstPacket::read(payload, offered).map_err(|_| WireError::BadHandshake)
    }

    fn read(payload: &[u8], offered: Capabilities) -> Result<FirstPacket, WireError> {
        let mut from = Reader::new(payload);
        let capabilities = Capabilities(from.u32()?);
        if !capabilities.has(Capabilities::PROTOCOL_41) {
            return Err(WireError::BadHandshake);
        }
        if capabilities.has(Capabilities::SSL) && payload.len() == 32 {
            if !offered.has(Capabilities::SSL) {
                return Err(WireError::BadHandshake);
            }
            return Ok(FirstPacket::SslRequest);
        }
        let mut login = Login {
            capabilities: capabilities.common(offered),
            max_packet: from.u32()?,
            collation: from.u8()?,
            ..Login::default()
        };
        from.bytes(23)?;
        decode_login(&mut from, &mut login)?;
        Ok(FirstPacket::Login(Box::new(login)))
    }
}

fn decode_login(from: &mut Reader<'_>, login: &mut Login) -> Result<(), WireError> {
    let has = |flag| login.capabilities.has(flag);
    login.user = text(from.nul_bytes()?);
    login.auth = if has(Capabilities::PLUGIN_AUTH_LENENC) {
        from.lenenc_bytes()?.to_vec()
    } else if has(Capabilities::SECURE_CONNECTION) {
        let len = from.u8()?;
        from.bytes(usize::from(len))?.to_vec()
    } else {
        from.nul_or_rest().to_vec()
    };
    if has(Capabilities::CONNECT_WITH_DB) && !from.is_empty() {
        let name = text(from.nul_or_rest());
        login.database = (!name.is_empty()).then_some(name);
    }
    if has(Capabilities::PLUGIN_AUTH) && !from.is_empty() {
        login.plugin = Some(text(from.nul_or_rest()));
    }
    if has(Capabilities::CONNECT_ATTRS) && !from.is_empty() {
        login.attributes = decode_attributes(from)?;
    }
    if has(Capabilities::ZSTD_COMPRESSION) && !from.is_empty() {
        login.zstd_level = from.u8()?;
    }
    Ok(())
}

pub(crate) fn decode_attributes(from: &mut Reader<'_>) -> Result<Vec<(String, String)>, WireError> {
    let mut pairs = Reader::new(from.lenenc_bytes()?);
    let mut attributes = Vec::new();
    // They are for information only: what cannot be read is left out.
    while let (Ok(name), Ok(value)) = (pairs.lenenc_bytes(), pairs.lenenc_bytes()) {
        attributes.push((text(name), text(value)));
    }
    Ok(attributes)
}

impl Login {
    /// Appends the packet's payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_head(out);
        put_nul_bytes(out, self.user.as_bytes());
        let has = |flag| self.capabilities.has(flag);
        if has(Capabilities::PLUGIN_AUTH_LENENC) {
            put_lenenc_bytes(out, &self.auth);
        } else {
            let auth = &self.auth[..self.auth.len().min(255)];
            out.push(auth.len() as u8);
            out.extend_from_slice(auth);
        }
        if has(Capabilities::CONNECT_WITH_DB) {
            put_nul_bytes(out, self.database.as_deref().unwrap_or_default().as_bytes());
        }
        if has(Capabilities::PLUGIN_AUTH) {
            put_nul_bytes(out, self.plugin.as_deref().unwrap_or_default().as_bytes());
        }
        if has(Capabilities::CONNECT_ATTRS) {
            let mut pairs = Vec::new();
            for (name, value) in &self.attributes {
                put_lenenc_bytes(&mut pairs, name.as_bytes());
                put_lenenc_bytes(&mut pairs, value.as_bytes());
            }
            put_lenenc(out, pairs.len() as u64);
            out.extend_from_slice(&pairs);
        }
        if has(Capabilities::ZSTD_COMPRESSION) {
            out.push(self.zstd_level);
        }
    }

    /// Appends the payload of the SSLRequest that comes before this login.
    pub fn encode_ssl_request(&self, out: &mut Vec<u8>) {
        self.encode_head(out);
    }

    fn encode_head(&self, out: &mut Vec<u8>) {
        put_u32(out, self.capabilities.0);
        put_u32(out, self.max_packet);
        out.push(self.collation);
        out.extend_from_slice(&[0; 23]);
    }
}

/// Appends an AuthSwitchRequest's payload.
pub fn put_auth_switch(out: &mut Vec<u8>, plugin: &str, nonce: &[u8; NONCE]) {
    out.push(0xfe);
    put_nul_bytes(out, plugin.as_bytes());
    out.extend_from_slice(nonce);
    out.push(0);
}

/// Reads an AuthSwitchRequest after its first byte: the plugin and its nonce.
pub fn decode_auth_switch(rest: &[u8]) -> Result<(String, Vec<u8>), WireError> {
    let mut from = Reader::new(rest);
    let plugin = text(from.nul_bytes()?);
    let nonce = from.take_rest();
    Ok((plugin, nonce.strip_suffix(&[0]).unwrap_or(nonce).to_vec()))
}

/// Appends an AuthMoreData's payload.
pub fn put_auth_more(out: &mut Vec<u8>, data: &[u8]) {
    out.push(1);
    out.extend_from_slice(data);
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
