//! WITH ROLLUP: what a group's values and aggregates are above it.

use inia_parser::ast::*;

/// Marks expressions that are rolled up, in the select list and HAVING.
pub(super) fn mark(select: &mut Select) {
    let named = |group: &Expr| match group {
        Expr::Column(ColumnName { table: None, name, .. }) => {
            select.items.iter().find_map(|item| match item {
                SelectItem::Expr { expr, alias: Some(alias), .. } if alias == name => Some(expr),
                _ => None,
            })
        }
        _ => None,
    };
    let meant = |group: &Expr| named(group).unwrap_or(group).clone();
    let groups: Vec<Expr> = select.group_by.iter().map(meant).collect();
    let aliases: Vec<(String, usize)> = select
        .items
        .iter()
        .filter_map(|item| match item {
            SelectItem::Expr { expr, alias: Some(alias), .. } => {
                let at = groups.iter().position(|group| group == expr)?;
                Some((alias.clone(), at))
            }
            _ => None,
        })
        .collect();
    for item in &mut select.items {
        if let SelectItem::Expr { expr, .. } = item {
            mark_expr(expr, &groups, &[]);
        }
    }
    if let Some(having) = &mut select.having {
        mark_expr(having, &groups, &aliases);
    }
}

fn mark_expr(expr: &mut Expr, groups: &[Expr], aliases: &[(String, usize)]) {
    let of_alias = match expr {
        Expr::Column(ColumnName { table: None, name, .. }) => {
            aliases.iter().find(|(alias, _)| alias == name).map(|(_, at)| *at)
        }
        _ => None,
    };
    let at = of_alias.or_else(|| groups.iter().position(|group| group == expr));
    if let Some(at) = at {
        let item = std::mem::replace(expr, Expr::null());
        let args = vec![item, Expr::int(at as u64)];
        *expr = Expr::Function(FunctionCall::native("rollup_group_item", args));
        return;
    }
    if matches!(expr, Expr::Aggregate(call) if call.over.is_none()) {
        let call = std::mem::replace(expr, Expr::null());
        *expr = Expr::Function(FunctionCall::native("rollup_sum_switcher", vec![call]));
        return;
    }
    expr.for_each_child_mut(&mut |child| mark_expr(child, groups, aliases));
}
