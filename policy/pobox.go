package policy

import (
	"regexp"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// IsPOBox reports whether an address line names a post office box, in the
// languages parcels commonly go to. It prefers missing an odd spelling to
// refusing a real street.
func IsPOBox(line string) bool {
	return poBox().MatchString(strings.Join(strings.Fields(norm.NFKC.String(line)), " "))
}

// poBoxForms are matched without regard to case, in a line whose blanks are
// single. A word that is also a street's or a firm's counts only with a number
// after it, or alone at the start of the line.
var poBoxForms = []string{
	// English: PO Box 65, P.O. Box 65, GPO Box 65, P0 Box, POB 65
	`\b(?:g[ .]*)?p[ ./-]*[o0][ ./-]*box(?:[^\pL]|$)`,
	`\bp\.?o\.?b\.? ?(?:no\.? ?|#)?\d`,
	`\bpost(?:al)? office box(?:[^\pL]|$)`,
	`\bpost(?:al)? ?box (?:no\.? ?|#)?\d`,
	`\b(?:locked|private) (?:mail )?bag (?:no\.? ?|#)?[a-z]? ?\d`,
	// Box 65 (Sweden too); Box 65, RR 2; RR 2 Box 65
	`^box ?(?:no\.? ?|number |#)?\d+[a-z]?(?: ?,|$| r\.? ?r\.? ?#?\d)`,
	`^(?:r\.? ?r\.?|rural route|h\.? ?c\.?|highway contract) ?#?\d+,? box ?#?\d`,
	// German, Dutch, Scandinavian, Finnish
	`\bpostfach(?:-?nr\.?)? ?\d`,
	`^postfach$`,
	`\bpf\. ?\d[\d ]*(?:,|$)`,
	`\bpostbus(?:nr\.?)? ?\d`,
	`\bpostboks ?\d`,
	`\bpostilokero ?\d`,
	// French: Boîte postale 123, BP 123, C.P. 123. A "boîte 3" alone is a flat's letter box
	`\bbo[iî]\x{302}?te postale`,
	`^b\.? ?p\.? ?(?:n[o°º]\.? ?)?\d+(?: ?,|$| cedex)`,
	// C.P. is a box in Italy and Québec and a postal code (four digits and more) in Mexico and Argentina
	`^c\.? ?p\.? (?:n[o°º]\.? ?)?\d{1,3}(?: ?,|$)`,
	`\bcas(?:ella|e) postale ?(?:n[o°º]?\.? ?)?\d`,
	// Spanish and Portuguese: Apartado, Apdo. de Correos, Casilla, Caixa Postal
	`(?:^|, ?)(?:apartado|apdo\.?|aptdo\.?)(?: postal| de correos?| a[eé]reo)? ?(?:n[o°ºú]?m?\.? ?|#)?\d`,
	`(?:^|, ?)casilla(?: postal| de correos?)? ?(?:n[o°ºú]?m?\.? ?|#)?\d`,
	`\bcaixa postal ?(?:n[o°º]?\.? ?)?\d`,
	// Polish, Russian, Chinese, Japanese
	`\bskr(?:ytka|\.) ?poczt(?:owa|\.) ?(?:nr\.? ?)?\d`,
	`(?:^|[ ,])а/я ?№? ?\d`,
	`私書箱|(?:邮政|郵政)信箱`,
}

var poBox = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join(poBoxForms, "|"))
})
