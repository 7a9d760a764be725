package audit_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/audit"
	"countersign/policy/money"
	"countersign/store"
	"countersign/store/storetest"
)

func exported(t *testing.T, db *store.DB, export audit.Export, f store.AuditFilter) string {
	t.Helper()
	var out bytes.Buffer
	if err := export(t.Context(), db, f, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Both formats have the same rows, columns and values.
func TestExport(t *testing.T) {
	db := storetest.New(t)
	e := entry(12)
	e.Amount, e.Duration = money.Amount{Minor: 14405, Currency: "USD"}, 1234567*time.Microsecond
	rows := write(t, db, append(entries(11), e)...)
	var lines string
	for _, row := range rows {
		lines += string(audit.JSON(row)) + "\n"
	}
	equal(t, lines, exported(t, db, audit.ExportJSONLines, store.AuditFilter{}))

	table, err := csv.NewReader(strings.NewReader(exported(t, db, audit.ExportCSV, store.AuditFilter{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, 13, len(table))
	for i, row := range rows {
		decoder := json.NewDecoder(bytes.NewReader(audit.JSON(row)))
		decoder.UseNumber()
		var names, values []string
		for at := -1; ; at++ { // tokens: a brace, and then names and values in turn
			token, err := decoder.Token()
			if err != nil {
				break
			}
			if _, brace := token.(json.Delim); brace {
				continue
			}
			if text := fmt.Sprint(token); at%2 == 0 {
				names = append(names, text)
			} else if token == nil {
				values = append(values, "")
			} else {
				values = append(values, text)
			}
		}
		equal(t, names, table[0])
		equal(t, values, table[i+1])
	}
	equal(t, string(audit.JSON(rows[1]))+"\n", exported(t, db, audit.ExportJSONLines, store.AuditFilter{OrderID: "A-2"}))
}

// No cell is a formula to a spreadsheet.
func TestExportedCellsAreDefused(t *testing.T) {
	db := storetest.New(t)
	for _, name := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "a=1", ""} {
		e := entry(1)
		e.Principal.Name = name
		write(t, db, e)
	}
	table, err := csv.NewReader(strings.NewReader(exported(t, db, audit.ExportCSV, store.AuditFilter{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var actors []string
	for _, record := range table[1:] {
		actors = append(actors, record[2])
	}
	equal(t, []string{"'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\tx", "'\rx", "a=1", ""}, actors)
}

// broken takes a number of bytes.
type broken struct{ left int }

var errBroken = errors.New("broken")

func (b *broken) Write(data []byte) (int, error) {
	if b.left -= len(data); b.left < 0 {
		return 0, errBroken
	}
	return len(data), nil
}

func TestExportEndsWithItsWriter(t *testing.T) {
	db := storetest.New(t)
	write(t, db, entries(500)...)
	for _, export := range []audit.Export{audit.ExportCSV, audit.ExportJSONLines} {
		for _, left := range []int{0, 70_000} { // at the end, and in the middle
			if err := export(t.Context(), db, store.AuditFilter{}, &broken{left}); !errors.Is(err, errBroken) {
				t.Errorf("after %d bytes: %v", left, err)
			}
		}
	}
}

// An export that can't read the whole log says so: what it wrote isn't all.
func TestExportOfWhatCannotBeRead(t *testing.T) {
	db := storetest.New(t)
	write(t, db, entries(3)...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, export := range []audit.Export{audit.ExportCSV, audit.ExportJSONLines} {
		var out bytes.Buffer
		if err := export(ctx, db, store.AuditFilter{}, &out); err == nil {
			t.Errorf("done with %q", out.String())
		}
	}
}
