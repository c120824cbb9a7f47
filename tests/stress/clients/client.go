// Creates a session, learns, predicts and reads an event, as any Go program would.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

var session = os.Args[1]

func ask(method, path, body string, status int) string {
	request, err := http.NewRequest(method, session+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != status {
		panic(fmt.Sprint(method, path, answer.StatusCode, string(text)))
	}
	return string(text)
}

func main() {
	ask("PUT", "", `{"model": "linear", "dim": 2}`, 201)
	for i := 0; i < 3; i++ {
		ask("POST", "/samples", `{"x": [1.0, 2.0], "y": 3.0}`, 200)
	}
	fmt.Print(ask("POST", "/predict", `{"x": [1.0, 2.0]}`, 200))
	answer, err := http.Get(session + "/events")
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "id: ") {
			fmt.Println(lines.Text())
			return
		}
	}
}
