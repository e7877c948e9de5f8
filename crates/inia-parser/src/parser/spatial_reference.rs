//! CREATE and DROP SPATIAL REFERENCE SYSTEM.

use super::{PResult, Parser};
use crate::{
    ParseErrorKind,
    ast::{ServerStatement, SpatialReference, Statement},
    error::ParseError,
    keyword::Kw,
};

/// The longest texts, in characters.
const MAX_NAME: usize = 80;
const MAX_ORGANIZATION: usize = 256;
const MAX_DEFINITION: usize = 4096;
const MAX_DESCRIPTION: usize = 2048;

/// What CREATE has said so far.
#[derive(Default)]
struct Attributes {
    name: Option<String>,
    definition: Option<String>,
    organization: Option<(String, u64)>,
    description: Option<String>,
}

impl Parser<'_> {
    fn spatial_reference_system(&mut self) -> PResult<()> {
        self.expect_kw(Kw::SPATIAL)?;
        self.expect_kw(Kw::REFERENCE)?;
        self.expect_kw(Kw::SYSTEM)
    }

    /// CREATE SPATIAL REFERENCE SYSTEM; SPATIAL is the current token.
    pub(super) fn create_spatial_reference(&mut self, or_replace: bool) -> PResult<Statement> {
        const STATEMENT: &str = "CREATE SPATIAL REFERENCE SYSTEM";
        self.spatial_reference_system()?;
        let if_not_exists = !or_replace && self.if_not_exists()?;
        let srid = self.uint()?;
        let mut attributes = Attributes::default();
        while let Some(kw) =
            self.accept_any(&[Kw::NAME, Kw::DEFINITION, Kw::ORGANIZATION, Kw::DESCRIPTION])
        {
            self.reference_attribute(kw, &mut attributes)?;
        }
        let srid = self.reference_number(srid, "SRID", STATEMENT)?;
        if srid == 0 {
            return Err(self.not_modifiable());
        }
        let Attributes { name, definition, organization, description } = attributes;
        let name = name.ok_or_else(|| self.missing("NAME"))?;
        self.check_trimmed(&name, 3710, "The spatial reference system name")?;
        self.check_attribute("NAME", &name, MAX_NAME)?;
        let definition = definition.ok_or_else(|| self.missing("DEFINITION"))?;
        self.check_attribute("DEFINITION", &definition, MAX_DEFINITION)?;
        let organization = match organization {
            Some((organization, number)) => {
                self.check_trimmed(&organization, 3711, "The organization name")?;
                self.check_attribute("ORGANIZATION", &organization, MAX_ORGANIZATION)?;
                let number = self.reference_number(number, "IDENTIFIED BY", STATEMENT)?;
                Some((organization, number))
            }
            None => None,
        };
        if let Some(description) = &description {
            self.check_attribute("DESCRIPTION", description, MAX_DESCRIPTION)?;
        }
        let system = SpatialReference { srid, name, definition, organization, description };
        let statement =
            ServerStatement::CreateSpatialReference { or_replace, if_not_exists, system };
        Ok(Statement::Server(Box::new(statement)))
    }

    fn reference_attribute(&mut self, kw: Kw, attributes: &mut Attributes) -> PResult<()> {
        let text = self.line()?;
        let mut number = 0;
        if kw == Kw::ORGANIZATION {
            self.expect_kw(Kw::IDENTIFIED)?;
            self.expect_kw(Kw::BY)?;
            number = self.uint()?;
        }
        let (word, again) = match kw {
            Kw::NAME => ("NAME", attributes.name.replace(text).is_some()),
            Kw::DEFINITION => ("DEFINITION", attributes.definition.replace(text).is_some()),
            Kw::DESCRIPTION => ("DESCRIPTION", attributes.description.replace(text).is_some()),
            _ => ("ORGANIZATION", attributes.organization.replace((text, number)).is_some()),
        };
        match again {
            true => {
                let message = format!("Multiple definitions of attribute {word}.");
                Err(self.other(3709, "SR006", message))
            }
            false => Ok(()),
        }
    }

    /// DROP SPATIAL REFERENCE SYSTEM; SPATIAL is the current token.
    pub(super) fn drop_spatial_reference(&mut self) -> PResult<Statement> {
        self.spatial_reference_system()?;
        let if_exists = self.if_exists()?;
        let srid = self.uint()?;
        let srid = self.reference_number(srid, "SRID", "DROP SPATIAL REFERENCE SYSTEM")?;
        if srid == 0 {
            return Err(self.not_modifiable());
        }
        let statement = ServerStatement::DropSpatialReference { if_exists, srid };
        Ok(Statement::Server(Box::new(statement)))
    }

    /// A text without line ends; error 1525.
    fn line(&mut self) -> PResult<String> {
        const SHOWN: usize = 128;
        let text = self.string()?;
        if !text.contains('\n') {
            return Ok(text);
        }
        let shown = crate::error::head(&text, SHOWN);
        let message = format!("Incorrect argument contains not-allowed LF value: '{shown}'");
        Err(self.other(1525, "HY000", message))
    }

    /// Error 1690.
    fn reference_number(&self, number: u64, what: &str, statement: &str) -> PResult<u32> {
        u32::try_from(number).map_err(|_| {
            let message = format!("{what} value is out of range in '{statement}'");
            self.other(1690, "22003", message)
        })
    }

    fn not_modifiable(&self) -> Box<ParseError> {
        self.other(3714, "SR000", "SRID 0 is not modifiable.".to_owned())
    }

    fn missing(&self, attribute: &str) -> Box<ParseError> {
        let message = format!("Missing mandatory attribute {attribute}.");
        self.fail(ParseErrorKind::Other { code: 3708, state: "SR006", message })
    }

    /// Errors 3710 and 3711.
    fn check_trimmed(&self, text: &str, code: u16, what: &str) -> PResult<()> {
        if !text.is_empty() && text.trim() == text {
            return Ok(());
        }
        let rule = "can't be an empty string or start or end with whitespace.";
        Err(self.other(code, "SR006", format!("{what} {rule}")))
    }

    /// Errors 3717 and 3718.
    fn check_attribute(&self, attribute: &str, text: &str, limit: usize) -> PResult<()> {
        if text.chars().any(char::is_control) {
            let message = format!("Invalid character in attribute {attribute}.");
            return Err(self.other(3717, "SR006", message));
        }
        if text.chars().count() > limit {
            let message = format!(
                "Attribute {attribute} is too long. The maximum length is {limit} characters."
            );
            return Err(self.other(3718, "SR006", message));
        }
        Ok(())
    }
}
