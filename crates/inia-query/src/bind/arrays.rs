//! Conditions on documents whose elements a multi-valued index holds are read from its array.
//!
//! As in MySQL, MEMBER OF, JSON_CONTAINS and JSON_OVERLAPS compare with what the index holds, where
//! the other operand is a constant that is of the elements' type, or becomes it. A parameter is the
//! constant that it has in the run that the plan is made for. Example: with
//! `KEY k ((CAST(j->'$.u' AS UNSIGNED ARRAY)))`
//!
//! ```text
//!   2 MEMBER OF (j->'$.u')                     json'2' MEMBER OF (array)
//!   JSON_CONTAINS(j->'$.u', '["2", 3.4]')      JSON_CONTAINS(array, json'[2, 3]')
//!   2.5 MEMBER OF (j->'$.u')                   stays: DECIMAL is not the elements' type
//! ```
//!
//! so that `2` is found in `[1.5]`, of which the index has 2.

use inia_base::datatype::DataType;
use inia_base::value::Value;
use inia_expr::json::{self, ElementType, Json};
use inia_expr::{
    Environment, EvalContext, Expr, ExprKind, ExprType, NoSubqueries, SessionHost, TypeClass,
};

/// What a multi-valued index holds, and where.
pub(super) struct Array<'a> {
    /// The document that it is made of.
    pub(super) document: &'a Expr,
    /// What its elements are.
    pub(super) element: ElementType<'a>,
    /// The column that has it.
    pub(super) hidden: &'a Expr,
    /// What constants are evaluated with.
    pub(super) settings: (&'a Environment, &'a dyn SessionHost),
}

impl Array<'_> {
    /// Makes a condition, and those under its AND and OR, read the array.
    pub(super) fn read(&self, condition: &mut Expr) {
        let call = match &mut condition.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                return parts.iter_mut().for_each(|part| self.read(part));
            }
            ExprKind::Call(call) => call,
            _ => return,
        };
        let [first, second] = call.args.as_mut_slice() else { return };
        let is_document = |expr: &Expr| expr.same(self.document);
        let read = match call.name {
            "member_of" if is_document(second) => self.member(first).map(|item| (1, item)),
            "json_contains" if is_document(first) => self.elements(second).map(|item| (0, item)),
            "json_overlaps" if is_document(first) => self.elements(second).map(|item| (0, item)),
            "json_overlaps" if is_document(second) => self.elements(first).map(|item| (1, item)),
            _ => None,
        };
        if let Some((at, constant)) = read {
            let constant = Expr::literal(Value::Json(constant.carried()), ExprType::json(false));
            call.args[at] = self.hidden.clone();
            call.args[1 - at] = constant;
        }
    }

    /// The value of a constant, or of a parameter of the statement that is about to run.
    fn constant(&self, expr: &Expr) -> Option<(Value, EvalContext<'_>)> {
        let (env, host) = self.settings;
        if !expr.is_constant() {
            let (mut constant, mut reads) = (true, false);
            expr.walk(&mut |node| match node.kind {
                ExprKind::Param(index) => {
                    reads = true;
                    constant &= index < env.param_values.len();
                }
                _ => constant &= node.is_constant_node(),
            });
            if reads {
                host.note_bound_value();
            }
            if !constant {
                return None;
            }
        }
        let mut ctx = EvalContext::new(env, host, &NoSubqueries, &env.param_values);
        let value = expr.eval(&mut ctx, &[]).ok()?;
        Some((value, ctx)).filter(|(value, _)| *value != Value::Null)
    }

    /// The operand of MEMBER OF as an element, where it is a constant of its type.
    fn member(&self, expr: &Expr) -> Option<Json> {
        use DataType as T;
        let class = expr.ty.class();
        let fits = match self.element.data_type {
            T::Int { .. } => class == TypeClass::Int,
            T::Decimal { .. } => class == TypeClass::Decimal,
            T::Date | T::Time { .. } | T::DateTime { .. } => {
                !matches!(class, TypeClass::Int | TypeClass::Decimal | TypeClass::Real)
            }
            _ => matches!(class, TypeClass::String | TypeClass::Json),
        };
        let (value, mut ctx) = self.constant(expr).filter(|_| fits)?;
        let item = json::of_value(&value, &expr.ty).ok()?;
        self.element.element(item, &mut ctx).ok()
    }

    /// A document of constants, each as an element. `null` is equal to none.
    fn elements(&self, expr: &Expr) -> Option<Json> {
        let (value, mut ctx) = self.constant(expr)?;
        match json::document(&value, &expr.ty, 2, "json_contains").ok()? {
            Json::Array(items) => {
                let element = |item| match item {
                    Json::Null => Some(Json::Null),
                    item => self.element.element(item, &mut ctx).ok(),
                };
                items.into_iter().map(element).collect::<Option<_>>().map(Json::Array)
            }
            scalar => self.element.element(scalar, &mut ctx).ok(),
        }
    }
}
