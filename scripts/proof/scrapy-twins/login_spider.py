import scrapy


class Login(scrapy.Spider):
    name = "login"

    def start_requests(self):
        yield scrapy.Request(f"{self.site}/login")

    def parse(self, response):
        yield scrapy.FormRequest.from_response(
            response,
            formdata={"username": "me", "password": getattr(self, "password", "secret")},
            callback=self.parse_home,
        )

    def parse_home(self, response):
        account = response.css("a.account")
        if not account:
            raise ValueError("the login was not accepted")
        yield from response.follow_all(account, self.parse_account)

    def parse_account(self, response):
        yield {"secret": response.css("p.secret::text").get()}
