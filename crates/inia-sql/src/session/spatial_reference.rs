//! CREATE and DROP SPATIAL REFERENCE SYSTEM.

use inia_base::error::{ErrorCode, SqlError};
use inia_geometry::Srs;
use inia_geometry::srs::WrongDefinition;
use inia_parser::ast::SpatialReference;
use inia_query::catalog::ReferenceSystem;
use inia_query::context::{SessionContext, StatementOutcome};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// SRIDs that MySQL keeps for itself.
const RESERVED: [RangeInclusive<u32>; 3] =
    [0..=32_767, 60_000_000..=69_999_999, 2_000_000_000..=2_147_483_647];

type Done = Result<StatementOutcome, SqlError>;

fn error<T>(code: ErrorCode, args: &[&dyn std::fmt::Display]) -> Result<T, SqlError> {
    Err(SqlError::new(code, args))
}

/// CREATE SPATIAL REFERENCE SYSTEM.
pub(super) fn create(
    session: &mut SessionContext,
    or_replace: bool,
    if_not_exists: bool,
    given: &SpatialReference,
) -> Done {
    begin(session)?;
    let (db, srid) = (session.db.clone(), given.srid);
    let _one = db.catalog().change_server();
    let known = db.catalog().reference_system(srid);
    if known.is_some() && if_not_exists {
        session.warn(ErrorCode::WarnSrsAlreadyExists, &[&srid]);
        return Ok(StatementOutcome::default());
    }
    if known.is_some() && !or_replace {
        return error(ErrorCode::SrsIdAlreadyExists, &[&srid]);
    }
    let srs = match Srs::parse(srid, &given.definition) {
        Ok(srs) => Arc::new(srs),
        Err(wrong) => return Err(wrong_definition(srid, &wrong)),
    };
    if known.is_some_and(|known| known != srs) && db.catalog().uses_reference(srid) {
        return error(ErrorCode::CantModifySrsUsedByColumn, &[&srid]);
    }
    let system = ReferenceSystem {
        srid,
        name: given.name.clone(),
        organization: given.organization.clone(),
        definition: given.definition.clone(),
        description: given.description.clone(),
        srs,
    };
    if let Some((value, key)) = db.catalog().duplicate_reference(&system) {
        return error(ErrorCode::DuplicateEntry, &[&value, &key]);
    }
    db.catalog().put_reference(srid, Some(system))?;
    warn_of_reserved(session, srid);
    Ok(StatementOutcome::default())
}

/// DROP SPATIAL REFERENCE SYSTEM.
pub(super) fn drop(session: &mut SessionContext, if_exists: bool, srid: u32) -> Done {
    begin(session)?;
    let db = session.db.clone();
    let _one = db.catalog().change_server();
    if db.catalog().reference_system(srid).is_none() {
        if !if_exists {
            return error(ErrorCode::SrsNotFound, &[&srid]);
        }
        session.warn(ErrorCode::WarnSrsNotFound, &[&srid]);
        return Ok(StatementOutcome::default());
    }
    if db.catalog().uses_reference(srid) {
        return error(ErrorCode::CantModifySrsUsedByColumn, &[&srid]);
    }
    db.catalog().put_reference(srid, None)?;
    warn_of_reserved(session, srid);
    Ok(StatementOutcome::default())
}

fn begin(session: &mut SessionContext) -> Result<(), SqlError> {
    session.commit()?;
    session.check_writable()?;
    session.begin_change()
}

fn warn_of_reserved(session: &mut SessionContext, srid: u32) {
    if let Some(range) = RESERVED.iter().find(|range| range.contains(&srid)) {
        session.warn(ErrorCode::WarnReservedSridRange, &[range.start(), range.end()]);
    }
}

fn wrong_definition(srid: u32, wrong: &WrongDefinition) -> SqlError {
    match wrong {
        WrongDefinition::Syntax => SqlError::new(ErrorCode::SrsParseError, &[&srid]),
        WrongDefinition::SemiMajorAxis => SqlError::new(ErrorCode::SrsInvalidSemiMajorAxis, &[]),
        WrongDefinition::InverseFlattening => {
            SqlError::new(ErrorCode::SrsInvalidInverseFlattening, &[])
        }
        WrongDefinition::AngularUnit => SqlError::new(ErrorCode::SrsInvalidAngularUnit, &[]),
        WrongDefinition::PrimeMeridian => SqlError::new(ErrorCode::SrsInvalidPrimeMeridian, &[]),
        WrongDefinition::Axes(first, second) => {
            let args: [&dyn std::fmt::Display; 3] = [&srid, &first.name(), &second.name()];
            SqlError::new(ErrorCode::SrsGeogcsInvalidAxes, &args)
        }
        WrongDefinition::UnusedParameter(name) => {
            SqlError::new(ErrorCode::SrsUnusedProjParameterPresent, &[&srid, name])
        }
        WrongDefinition::MissingParameter(name, number) => {
            SqlError::new(ErrorCode::SrsProjParameterMissing, &[&srid, name, number])
        }
    }
}
