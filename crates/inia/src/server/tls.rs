//! The server's certificate and key pair, made at the first start and kept in the data directory.
//!
//! Each file is written whole. One that is empty or was cut off by a crash of an earlier version is
//! made anew; one that is complete and wrong is an error, since somebody put it there.

use crate::data_dir::{CERTIFICATE, CERTIFICATE_KEY, RSA_KEY, RSA_PUBLIC};
use crate::log;
use inia_base::io::{Access, Disk, read_whole, write_whole};
use inia_wire::auth::KeyPair;
use parking_lot::RwLock;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io;
use std::sync::{Arc, OnceLock};

/// The server's certificate, as connections to come use it.
pub(crate) struct Certificate {
    disk: Arc<dyn Disk>,
    config: RwLock<Arc<rustls::ServerConfig>>,
}

impl Certificate {
    /// That of a data directory, which is made if it is missing.
    pub(crate) fn open(disk: Arc<dyn Disk>) -> Result<Certificate, String> {
        let config = RwLock::new(server_config(&*disk)?);
        Ok(Certificate { disk, config })
    }

    /// What a connection starts TLS with.
    pub(crate) fn config(&self) -> Arc<rustls::ServerConfig> {
        self.config.read().clone()
    }

    /// Reads the files anew; what is there stays in use where they are no good.
    pub(crate) fn reload(&self) -> Result<(), String> {
        let config = server_config(&*self.disk)?;
        *self.config.write() = config;
        Ok(())
    }
}

/// Protocol and cipher as OpenSSL, and so MySQL, names them.
pub(crate) fn names(
    version: rustls::ProtocolVersion,
    suite: rustls::CipherSuite,
) -> (String, String) {
    let version = match version {
        rustls::ProtocolVersion::TLSv1_3 => String::from("TLSv1.3"),
        rustls::ProtocolVersion::TLSv1_2 => String::from("TLSv1.2"),
        other => format!("{other:?}"),
    };
    let suite = format!("{suite:?}");
    let name = match (suite.strip_prefix("TLS13_"), suite.strip_prefix("TLS_")) {
        (Some(rest), _) => format!("TLS_{rest}"),
        (_, Some(rest)) => {
            let rest = rest.replace("_WITH_", "-").replace("AES_", "AES");
            rest.replace("POLY1305_SHA256", "POLY1305").replace('_', "-")
        }
        _ => suite,
    };
    (version, name)
}

/// TLS settings from the directory's certificate, which is made if it is missing.
pub(crate) fn server_config(disk: &dyn Disk) -> Result<Arc<rustls::ServerConfig>, String> {
    let (certificate, key) = match (read_pem(disk, CERTIFICATE)?, read_pem(disk, CERTIFICATE_KEY)?)
    {
        (Some(certificate), Some(key)) => (certificate, key),
        _ => make_certificate(disk)?,
    };
    let chain = CertificateDer::pem_slice_iter(certificate.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| format!("{CERTIFICATE}: {error}"))?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
        .map_err(|error| format!("{CERTIFICATE_KEY}: {error}"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| format!("{CERTIFICATE}, {CERTIFICATE_KEY}: {error}"))?;
    Ok(Arc::new(config))
}

/// Makes a pair. The old certificate goes first: a crash between the two files must not leave a
/// certificate beside a key that is not its own.
fn make_certificate(disk: &dyn Disk) -> Result<(String, String), String> {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(|error| error.to_string())?;
    match disk.remove(CERTIFICATE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(format!("{CERTIFICATE}: {error}")),
        Ok(()) => disk.sync_names().map_err(|error| format!("{CERTIFICATE}: {error}"))?,
    }
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    write_pem(disk, CERTIFICATE_KEY, &key, Access::Owner)?;
    write_pem(disk, CERTIFICATE, &certificate, Access::Group)?;
    Ok((certificate, key))
}

fn write_pem(disk: &dyn Disk, name: &str, text: &str, access: Access) -> Result<(), String> {
    let written = write_whole(disk, name, text.as_bytes(), access);
    written.map_err(|error| format!("{name}: {error}"))
}

/// A file's text; `None` when it is missing or was never completed.
fn read_pem(disk: &dyn Disk, name: &str) -> Result<Option<String>, String> {
    let found = read_whole(disk, name).map_err(|error| format!("{name}: {error}"))?;
    let Some(text) = found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) else {
        return Ok(None);
    };
    if text.contains("-----END ") && text.trim_end().ends_with("-----") {
        return Ok(Some(text));
    }
    if !text.trim_matches('\0').is_empty() && !text.contains("-----BEGIN ") {
        return Err(format!("{name} is not in PEM format"));
    }
    log::warning(format_args!("{name} is incomplete and is made anew"));
    Ok(None)
}

/// The RSA key pair for passwords without TLS. Making one takes a while, so it is made by a thread
/// of its own; a login that needs it earlier waits.
pub(crate) struct PasswordKeys {
    disk: Arc<dyn Disk>,
    pair: OnceLock<Result<KeyPair, String>>,
}

impl PasswordKeys {
    /// Keys that are read from, or made in, `disk` at first use.
    pub(crate) fn new(disk: Arc<dyn Disk>) -> PasswordKeys {
        PasswordKeys { disk, pair: OnceLock::new() }
    }

    /// The pair.
    pub(crate) fn get(&self) -> Result<&KeyPair, String> {
        self.pair
            .get_or_init(|| load_or_make(&*self.disk, KeyPair::generate))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// The pair where it is made already.
    pub(crate) fn made(&self) -> Option<&KeyPair> {
        self.pair.get()?.as_ref().ok()
    }
}

fn load_or_make(
    disk: &dyn Disk,
    make: impl FnOnce() -> Result<KeyPair, String>,
) -> Result<KeyPair, String> {
    let pair = match read_pem(disk, RSA_KEY)? {
        Some(pem) => KeyPair::from_pem(&pem)?,
        None => {
            let pair = make()?;
            write_pem(disk, RSA_KEY, &pair.to_pem()?, Access::Owner)?;
            pair
        }
    };
    // The public half follows from the private one, whatever a crash left of it.
    if read_pem(disk, RSA_PUBLIC)?.as_deref() != Some(pair.public_pem()) {
        write_pem(disk, RSA_PUBLIC, pair.public_pem(), Access::Group)?;
    }
    Ok(pair)
}

#[cfg(test)]
mod tests;
