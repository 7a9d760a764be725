package store

import (
	"database/sql"
	"errors"
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
	var stats lexis.Stats
	err = v.row("select count(*), coalesce(sum(title_words), 0), coalesce(sum(body_words), 0) from article_index", nil,
		&stats.Articles, &stats.Total.Title, &stats.Total.Body)
	if err != nil {
		return nil, 0, err
	}
	postings, err := v.postings(terms)
	if err != nil {
		return nil, 0, err
	}
	hits, err := lexis.Rank(terms, stats, postings)
	if err != nil {
		return nil, 0, fmt.Errorf("ranking articles: %w", err)
	}
	for _, hit := range hits[:min(limit, len(hits))] {
		a, err := v.article(hit.Article)
		if err != nil {
			return nil, 0, err
		}
		articles = append(articles, a)
	}
	return articles, len(hits), nil
}

// postings returns the packed postings of each term.
func (v *View) postings(terms []string) (map[string][]byte, error) {
	packed := map[string][]byte{}
	err := v.rows(`select term, postings from article_terms
		where block in (select article / ? from article_index) and term in (select value from json_each(?))`,
		[]any{articlesPerBlock, list(terms)}, func(rows scanner) error {
			var term string
			var postings sql.RawBytes
			err := rows.Scan(&term, &postings)
			packed[term] = append(packed[term], postings...)
			return err
		})
	return packed, err
}

// PublicArticle returns the article of an id. An internal one gives
// [ErrForeignID]: agents learn no more than that there is none.
func (v *View) PublicArticle(id string) (Article, error) {
	var number int64
	err := v.row("select number from articles where id = ? and visibility = 'public'", []any{id}, &number)
	if errors.Is(err, ErrNotFound) {
		return Article{}, v.foreign("select 1 from articles where id = ?", id)
	}
	if err != nil {
		return Article{}, err
	}
	return v.article(number)
}

func (v *View) article(number int64) (a Article, err error) {
	err = v.row(`select number, id, title, body, category, written_by, visibility = 'internal', outdated, updated_at
		from articles where number = ?`, []any{number}, &a.Number, &a.ID, &a.Title, &a.Body, &a.Category,
		&a.WrittenBy, &a.Internal, &a.Outdated, into(&a.Updated))
	return a, err
}
