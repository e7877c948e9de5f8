//! TLS to a server, by the modes of `mysql`.
//!
//! | `--ssl-mode` | TLS | the server's certificate |
//! |---|---|---|
//! | `DISABLED` | none | |
//! | `PREFERRED` | where the server offers it and is on another machine | any |
//! | `REQUIRED` | always | any |
//! | `VERIFY_CA` | always | signed by what `--ssl-ca` holds |
//! | `VERIFY_IDENTITY` | always | and for this host |
//!
//! Without a mode it is `PREFERRED`; with `--ssl-ca` it is `VERIFY_CA`, as in MySQL.

use crate::login_url::{Connection, Duplex, LoginUrl, ServerAddress};
use inia_wire::client::{Client, ClientError, LoginOptions};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, StreamOwned,
};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

/// The names of the modes.
pub(super) const MODES: [&str; 5] =
    ["DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Disabled,
    Preferred,
    Required,
    VerifyCa,
    VerifyIdentity,
}

/// How a server is to be reached.
#[derive(Debug)]
pub(super) struct ClientTls {
    mode: Mode,
    config: Option<Arc<ClientConfig>>,
}

impl ClientTls {
    /// By the values of `--ssl-mode` and `--ssl-ca`.
    pub(super) fn new(mode: Option<&str>, ca: Option<&str>) -> Result<ClientTls, String> {
        let usual = if ca.is_some() { Mode::VerifyCa } else { Mode::Preferred };
        let mode = match mode.map(str::to_ascii_uppercase).as_deref() {
            None => usual,
            Some("DISABLED") => Mode::Disabled,
            Some("PREFERRED") => Mode::Preferred,
            Some("REQUIRED") => Mode::Required,
            Some("VERIFY_CA") => Mode::VerifyCa,
            Some("VERIFY_IDENTITY") => Mode::VerifyIdentity,
            Some(other) => return Err(format!("'{other}' is not one of {}", MODES.join(", "))),
        };
        let config = match mode {
            Mode::Disabled => None,
            _ => Some(Arc::new(client_config(mode, ca)?)),
        };
        Ok(ClientTls { mode, config })
    }

    /// Connects and logs in.
    pub(super) fn connect(
        &self,
        login: &LoginUrl,
        options: &LoginOptions,
    ) -> Result<Connection, String> {
        let Some(config) = self.config.as_ref().filter(|_| self.is_wanted(&login.place)) else {
            return login.connect_by(options);
        };
        let host = match &login.place {
            ServerAddress::Tcp(host, _) => host.clone(),
            ServerAddress::Unix(_) => "localhost".to_owned(),
        };
        let name = ServerName::try_from(host.clone());
        let name = name.map_err(|_| format!("'{host}' cannot be the name in a certificate"))?;
        let upgrade = |stream: Box<dyn Duplex>| -> io::Result<Box<dyn Duplex>> {
            let tls = ClientConnection::new(config.clone(), name.clone());
            let mut tls = StreamOwned::new(tls.map_err(io::Error::other)?, stream);
            tls.conn.complete_io(&mut tls.sock)?;
            Ok(Box::new(tls))
        };
        let connected = Client::connect_tls(login.place.open(None)?, options, upgrade);
        match connected {
            Err(ClientError::Unsupported(_)) if self.mode == Mode::Preferred => {
                login.connect_by(options)
            }
            Err(ClientError::Unsupported(what)) => {
                Err(format!("ERROR 2026 (HY000): SSL connection error: {what}"))
            }
            Err(ClientError::Io(error)) => {
                Err(format!("ERROR 2026 (HY000): SSL connection error: {error}"))
            }
            connected => connected.map_err(|error| error.to_string()),
        }
    }

    /// Whether TLS is wanted to a place. What stays on this machine is not read on the way.
    fn is_wanted(&self, place: &ServerAddress) -> bool {
        let is_here = match place {
            ServerAddress::Unix(_) => true,
            ServerAddress::Tcp(host, _) => {
                host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
            }
        };
        self.mode > Mode::Preferred || !is_here
    }
}

fn client_config(mode: Mode, ca: Option<&str>) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = match (mode >= Mode::VerifyCa, ca) {
        (false, _) => None,
        (true, None) => return Err("to verify a certificate --ssl-ca is needed".to_owned()),
        (true, Some(file)) => Some(verifier(file, &provider)?),
    };
    let verifier = Verifier { chain, mode, provider: provider.clone() };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    Ok(config.with_no_client_auth())
}

/// What holds certificates to those of a file.
fn verifier(
    file: &str,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, String> {
    let wrong = |error: String| format!("--ssl-ca {file}: {error}");
    let mut roots = RootCertStore::empty();
    let found = CertificateDer::pem_file_iter(file).map_err(|error| wrong(error.to_string()))?;
    for certificate in found {
        let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    let made = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    made.build().map_err(|error| wrong(error.to_string()))
}

/// Looks at a server's certificate as the mode wants.
#[derive(Debug)]
struct Verifier {
    /// None where every certificate is good.
    chain: Option<Arc<WebPkiServerVerifier>>,
    mode: Mode,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        let verified = chain.verify_server_cert(certificate, intermediates, name, ocsp, now);
        match verified {
            // The name is looked at after the chain.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.mode == Mode::VerifyCa => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
