package policy_test

import (
	"testing"

	"countersign/policy"
)

func TestIsPOBox(t *testing.T) {
	boxes := []string{
		"PO Box 65", "P.O. Box 65", "P O BOX 65", "p.o.box 65", "POBox 65", "POBOX65", "P. O. Box A-12", "P0 Box 65", "P/O Box 9",
		"  PO\u00a0 Box 65  ", "Acme Ltd, PO Box 65", "12 High Street, P.O. Box 7", "GPO Box 2890", "G.P.O. Box 2890", "PO Box", "POB 65", "P.O.B. 65",
		"Post Office Box 65", "post office box no. 65", "Postal Box 12", "Post Box 12", "Postbox 12", "Locked Bag 1797", "Private Bag X12",
		"Box 65", "BOX 65", "Box #65", "Box No. 65", "Box 65, RR 2", "Box 65 RR 2", "RR 2 Box 65", "R.R. #2, Box 65", "HC 1 Box 12",
		"Postfach", "Postfach 12 34", "POSTFACH 1234", "Muster GmbH, Postfach 1234", "Pf. 12 34",
		"Postbus 12", "postbus 90801", "Postboks 123 Sentrum", "Postilokero 12",
		"Boîte postale 123", "BOITE POSTALE 12", "Boi\u0302te postale 9", "BP 123", "B.P. 123", "BP 123, Dakar", "BP 40012 Cedex",
		"C.P. 123", "CP 7", "Casella postale 12", "Case postale 45",
		"Apartado 123", "Apartado de Correos 12", "Apartado Postal 55", "Apartado Aéreo 1234", "Apdo. 123", "Apdo. de Correos 8", "Apartado nº 12",
		"Casilla 12", "Casilla de Correo 12", "Casilla postal 9", "Caixa Postal 123",
		"skr. poczt. 12", "Skrytka pocztowa 12", "а/я 12", "新宿郵便局私書箱第12号", "邮政信箱 12",
	}
	for _, line := range boxes {
		if !policy.IsPOBox(line) {
			t.Errorf("IsPOBox(%q) = false, want true", line)
		}
	}

	streets := []string{
		"", " ", "12 Boxwood Lane", "Box Hill VIC 3128", "Box Hill", "5 Box Hill Road", "Apobox GmbH", "Boxer Street 65", "65 Box Lane", "Box Elder Road 12",
		"Box 7 Studios, Mill Lane", "Lunch Box 24", "Expo Box 3", "Po Boxing Club 5", "7 Post Office Lane", "The Old Post Office", "Post Box Cottage", "12 Old Post Box Lane", "3 Postal Road",
		"1 Postbus Street", "Postbusstraat 4", "Postfachweg 3", "Poststraße 12", "Poststr. 12", "Post 5", "Pfarrgasse 12", "Pfad 3",
		"Boîte 12", "12 rue de la Boîte", "Rue Neuve 5 bte 3", "Kerkstraat 5 bus 12", "Bus 12", "BP Tankstelle 12", "BP 12 Service Station", "12 Rue BP",
		"C.P. 06700", "CP 1043", "CP Rail Yard 3", "CPR Street 9", "Calle del Apartado 12", "Apartamento 12", "Apartados Street", "Calle Casilla 5", "Casillas 12", "Caixa 5",
		"Private Road 12", "Bag End 3", "POB Gallery", "Popo Street 5", "Depot Box Works", "HC Andersens Vej 12", "RR Donnell Way 5",
	}
	for _, line := range streets {
		if policy.IsPOBox(line) {
			t.Errorf("IsPOBox(%q) = true, want false", line)
		}
	}
}
