//! The server's certificate and key pair, made at the first start and kept in the data directory.

use inia_wire::auth::KeyPair;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

const CERTIFICATE: &str = "server-cert.pem";
const CERTIFICATE_KEY: &str = "server-key.pem";
const RSA_KEY: &str = "private_key.pem";
const RSA_PUBLIC: &str = "public_key.pem";

/// TLS settings from the directory's certificate, which is made if it is missing.
pub(crate) fn server_config(dir: &Path) -> Result<Arc<rustls::ServerConfig>, String> {
    let (cert_path, key_path) = (dir.join(CERTIFICATE), dir.join(CERTIFICATE_KEY));
    if !cert_path.exists() || !key_path.exists() {
        make_certificate(&cert_path, &key_path)?;
    }
    let chain = CertificateDer::pem_file_iter(&cert_path)
        .and_then(|certs| certs.collect::<Result<Vec<_>, _>>())
        .map_err(|error| format!("{}: {error}", cert_path.display()))?;
    let key = PrivateKeyDer::from_pem_file(&key_path)
        .map_err(|error| format!("{}: {error}", key_path.display()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| error.to_string())?;
    Ok(Arc::new(config))
}

fn make_certificate(cert_path: &Path, key_path: &Path) -> Result<(), String> {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(|error| error.to_string())?;
    write_file(key_path, &made.signing_key.serialize_pem(), 0o600)?;
    write_file(cert_path, &made.cert.pem(), 0o644)
}

/// Writes a whole file under a passing name first, so that a crash leaves all or nothing.
fn write_file(path: &Path, text: &str, mode: u32) -> Result<(), String> {
    let passing = path.with_extension("new");
    let write = || {
        let _ = fs::remove_file(&passing);
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(mode).open(&passing)?;
        file.write_all(text.as_bytes())?;
        fs::rename(&passing, path)
    };
    write().map_err(|error| format!("{}: {error}", path.display()))
}

/// The RSA key pair for passwords without TLS. Making one takes a while, so it is made by a thread
/// of its own; a login that needs it earlier waits.
pub(crate) struct PasswordKeys {
    dir: PathBuf,
    pair: OnceLock<Result<KeyPair, String>>,
}

impl PasswordKeys {
    /// Keys that are read from, or made in, `dir` at first use.
    pub(crate) fn new(dir: &Path) -> PasswordKeys {
        PasswordKeys { dir: dir.to_owned(), pair: OnceLock::new() }
    }

    /// The pair.
    pub(crate) fn get(&self) -> Result<&KeyPair, String> {
        self.pair.get_or_init(|| load_or_make(&self.dir)).as_ref().map_err(Clone::clone)
    }
}

fn load_or_make(dir: &Path) -> Result<KeyPair, String> {
    if let Ok(pem) = fs::read_to_string(dir.join(RSA_KEY)) {
        return KeyPair::from_pem(&pem);
    }
    let pair = KeyPair::generate()?;
    write_file(&dir.join(RSA_KEY), &pair.to_pem()?, 0o600)?;
    write_file(&dir.join(RSA_PUBLIC), pair.public_pem(), 0o644)?;
    Ok(pair)
}
