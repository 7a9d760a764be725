package store

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
)

// scanner is a row that gives its columns, from left to right.
type scanner interface{ Scan(dest ...any) error }

// row is one row as the driver gives it.
type row []driver.Value

// Scan copies the columns into what dest points to. The tables are strict, so a
// column that isn't of its variable's kind is a fault of the query.
func (r row) Scan(dest ...any) error {
	if len(dest) != len(r) {
		return fmt.Errorf("%d columns for %d variables", len(r), len(dest))
	}
	for i, d := range dest {
		if err := assign(d, r[i]); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

func assign(dest any, value driver.Value) error {
	switch d := dest.(type) {
	case *string:
		if text, ok := value.(string); ok {
			*d = text
			return nil
		}
	case *int64:
		if n, ok := value.(int64); ok {
			*d = n
			return nil
		}
	case *int:
		if n, ok := value.(int64); ok {
			*d = int(n)
			return nil
		}
	case sql.Scanner:
		return d.Scan(value)
	}
	return assignKind(reflect.ValueOf(dest).Elem(), value)
}

// assignKind assigns to types of those kinds and to pointers, which null leaves
// nil.
func assignKind(dest reflect.Value, value driver.Value) error {
	if dest.Kind() == reflect.Pointer {
		if value == nil {
			dest.SetZero()
			return nil
		}
		dest.Set(reflect.New(dest.Type().Elem()))
		return assignKind(dest.Elem(), value)
	}
	switch v := value.(type) {
	case string:
		switch {
		case dest.Kind() == reflect.String:
			dest.SetString(v)
			return nil
		case dest.Kind() == reflect.Slice && dest.Type().Elem().Kind() == reflect.Uint8:
			dest.SetBytes([]byte(v))
			return nil
		}
	case []byte:
		if dest.Kind() == reflect.Slice {
			dest.SetBytes(v)
			return nil
		}
	case int64:
		switch dest.Kind() {
		case reflect.Int, reflect.Int64:
			dest.SetInt(v)
			return nil
		case reflect.Bool:
			dest.SetBool(v != 0)
			return nil
		}
	}
	return fmt.Errorf("%T can't be kept in a %s", value, dest.Type())
}
