package store

import (
	"database/sql"
	"fmt"
	"time"

	"countersign/store/lexis"
)

// An Article of the help center.
type Article struct {
	Number    int64
	ID        string
	Title     string
	Body      string
	Category  string
	WrittenBy string // official or community
	Internal  bool   // never shown to an agent
	Outdated  bool
	Updated   time.Time
}

// SearchArticles returns the public articles that hold any of terms, best
// first, at most limit, and how many there are in all.
func (v *View) SearchArticles(terms []string, limit int) (articles []Article, count int, err error) {
	postings, docs, err := v.postings(terms)
	if err != nil {
		return nil, 0, err
	}
	var stats lexis.Stats
	err = v.row(`select count(*), coalesce(sum(title_words), 0), coalesce(sum(body_words), 0)
		from articles where visibility = 'public'`, nil, &stats.Articles, &stats.Total.Title, &stats.Total.Body)
	if err != nil {
		return nil, 0, err
	}
	hits := lexis.Rank(terms, stats, postings, docs)
	for _, hit := range hits[:min(limit, len(hits))] {
		a, err := v.article(hit.Article)
		if err != nil {
			return nil, 0, err
		}
		articles = append(articles, a)
	}
	return articles, len(hits), nil
}

// postings returns which public articles hold each term, and those articles' lengths.
func (v *View) postings(terms []string) (map[string][]lexis.Posting, map[int64]lexis.Doc, error) {
	postings, docs := map[string][]lexis.Posting{}, map[int64]lexis.Doc{}
	for _, term := range terms {
		err := v.rows(`select t.article, t.title, t.body, a.title_words, a.body_words, a.outdated
			from article_terms t join articles a on a.number = t.article where t.term = ? and a.visibility = 'public'`,
			[]any{term}, func(rows *sql.Rows) error {
				var p lexis.Posting
				var d lexis.Doc
				err := rows.Scan(&p.Article, &p.Title, &p.Body, &d.Length.Title, &d.Length.Body, &d.Outdated)
				postings[term] = append(postings[term], p)
				docs[p.Article] = d
				return err
			})
		if err != nil {
			return nil, nil, fmt.Errorf("articles with a term: %w", err)
		}
	}
	return postings, docs, nil
}

func (v *View) article(number int64) (a Article, err error) {
	err = v.row(`select number, id, title, body, category, written_by, visibility = 'internal', outdated, updated_at
		from articles where number = ?`, []any{number}, &a.Number, &a.ID, &a.Title, &a.Body, &a.Category,
		&a.WrittenBy, &a.Internal, &a.Outdated, into(&a.Updated))
	return a, err
}

// index replaces an article's terms. An internal article has none: what isn't
// indexed can't be found.
func (tx *Tx) index(a Article, counts []lexis.TermCount) error {
	if _, err := tx.exec("delete from article_terms where article = ?", a.Number); err != nil {
		return err
	}
	if a.Internal {
		return nil
	}
	for _, c := range counts {
		err := tx.execOne("insert into article_terms (term, article, title, body) values (?, ?, ?, ?)",
			c.Term, a.Number, c.Title, c.Body)
		if err != nil {
			return fmt.Errorf("indexing article %s: %w", a.ID, err)
		}
	}
	return nil
}
