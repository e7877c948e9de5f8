//! The machine stops at every step of making the keys; the next start has whole and matching ones.

use super::*;
use inia_testkit::sim_disk::{Fault, SimDisk, When};

/// Runs `make` with a crash at each of its changes, and `check` on what each crash can leave.
fn at_every_crash(
    prepare: impl Fn(&SimDisk),
    make: impl Fn(&SimDisk) -> Result<(), String>,
    check: impl Fn(&SimDisk),
) {
    let whole = SimDisk::new();
    prepare(&whole);
    let before = whole.counts().changes;
    make(&whole).unwrap();
    let changes = whole.counts().changes - before;
    assert!(changes >= 8, "two files are written, synced, renamed, and made durable");
    for change in 1..=changes {
        for seed in 0..12 {
            let disk = SimDisk::new();
            prepare(&disk);
            disk.inject(When::Change(change), Fault::Crash);
            assert!(make(&disk).is_err(), "change {change}");
            check(&disk.crash(seed));
        }
    }
    for seed in 0..12 {
        let disk = SimDisk::new();
        prepare(&disk);
        make(&disk).unwrap();
        check(&disk.crash(seed));
    }
}

#[test]
fn a_certificate_survives_power_loss_or_is_made_anew() {
    let make = |disk: &SimDisk| server_config(disk).map(|_| ());
    at_every_crash(|_| (), make, |left| make(left).unwrap());
    // A key without its certificate, and the other way round: both files are replaced.
    for lost in [CERTIFICATE, CERTIFICATE_KEY] {
        let prepare = |disk: &SimDisk| {
            make(disk).unwrap();
            disk.remove(lost).unwrap();
            disk.sync_names().unwrap();
        };
        at_every_crash(prepare, make, |left| make(left).unwrap());
    }
}

#[test]
fn a_certificate_that_was_durable_stays_the_same() {
    let disk = SimDisk::new();
    server_config(&disk).unwrap();
    let before = read_whole(&disk, CERTIFICATE).unwrap();
    // The seed that loses all that was not synced.
    let after = disk.crash(0);
    server_config(&after).unwrap();
    assert_eq!(read_whole(&after, CERTIFICATE).unwrap(), before);
}

#[test]
fn password_keys_survive_power_loss_or_are_made_anew() {
    let pem = KeyPair::generate().unwrap().to_pem().unwrap();
    let make = |disk: &SimDisk| load_or_make(disk, || KeyPair::from_pem(&pem)).map(|_| ());
    let check = |left: &SimDisk| {
        make(left).unwrap();
        let text = |name| String::from_utf8(read_whole(left, name).unwrap().unwrap()).unwrap();
        let private = KeyPair::from_pem(&text(RSA_KEY)).unwrap();
        assert_eq!(private.public_pem(), text(RSA_PUBLIC));
    };
    at_every_crash(|_| (), make, check);
}

#[test]
fn files_that_an_unsynced_rename_left_empty_are_made_anew() {
    let disk = SimDisk::new();
    for name in [CERTIFICATE, CERTIFICATE_KEY] {
        write_whole(&disk, name, &[0; 700], Access::Group).unwrap();
    }
    server_config(&disk).unwrap();
    write_whole(&disk, CERTIFICATE, b"", Access::Group).unwrap();
    server_config(&disk).unwrap();
}

#[test]
fn files_that_somebody_put_there_are_not_replaced() {
    let disk = SimDisk::new();
    server_config(&disk).unwrap();
    write_whole(&disk, CERTIFICATE, b"a certificate in another format", Access::Group).unwrap();
    let refusal = server_config(&disk).map(|_| ()).unwrap_err();
    assert_eq!(refusal, "server-cert.pem is not in PEM format");
    assert_eq!(
        read_whole(&disk, CERTIFICATE).unwrap().unwrap(),
        b"a certificate in another format"
    );
}

#[test]
fn a_certificate_that_is_read_anew_takes_the_place_of_the_old_one() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
    let certificate = Certificate::open(disk.clone()).unwrap();
    let first = certificate.config();
    certificate.reload().unwrap();
    let second = certificate.config();
    assert!(!Arc::ptr_eq(&first, &second));
    write_pem(&*disk, CERTIFICATE, "no certificate", Access::Group).unwrap();
    certificate.reload().unwrap_err();
    assert!(Arc::ptr_eq(&second, &certificate.config()), "what is no good changes nothing");
}

#[test]
fn ciphers_have_the_names_that_openssl_gives_them() {
    use rustls::{CipherSuite as Suite, ProtocolVersion as Version};
    for (version, suite, expected) in [
        (Version::TLSv1_3, Suite::TLS13_AES_256_GCM_SHA384, "TLSv1.3 TLS_AES_256_GCM_SHA384"),
        (
            Version::TLSv1_2,
            Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
            "TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384",
        ),
        (
            Version::TLSv1_2,
            Suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
            "TLSv1.2 ECDHE-RSA-CHACHA20-POLY1305",
        ),
    ] {
        let (version, suite) = names(version, suite);
        assert_eq!(format!("{version} {suite}"), expected);
    }
}
