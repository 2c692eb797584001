"""Pairs of questions: some ask the same in other words, others differ in what is asked.

The rules and the threshold were chosen with SAME and DIFFERENT. NEW_SAME and NEW_DIFFERENT were written afterwards, to
check them.
"""

SAME = """
What is the default timeout? | What's the default timeout?
What is the default timeout of the client? | what is the client's default timeout
How do I install the package? | How can I install the package?
How do I configure retries? | How are retries configured?
how to reset my password | How do I reset my password?
How can I reset my password? | What do I have to do to reset my password?
Where are the logs stored? | Where can I find the logs?
Where does the server store its logs? | Where are the server's logs stored?
What is the capital of France? | Which city is the capital of France?
Who wrote the novel Moby Dick? | Who is the author of the novel Moby Dick?
How many connections does the pool open? | How many connections are opened by the pool?
What does the option max_tokens do? | What is the option max_tokens for?
Explain how the cache works | How does the cache work?
Tell me how the cache works. | Can you explain how the cache works?
Which license does the project use? | What license is the project under?
What are the system requirements? | What are the requirements for the system?
How long are backups kept? | For how long are backups kept?
How much does the enterprise plan cost? | What does the enterprise plan cost?
What is the price of the enterprise plan? | What's the enterprise plan price?
Is there a limit on the size of uploads? | Is there a size limit for uploads?
What is the maximum size of an upload? | What's the maximum upload size?
How do I cancel my subscription? | How can I cancel my subscription?
how do i cancel a subscription | How to cancel a subscription?
What is the difference between a thread and a process? | How do threads and processes differ?
Which port does the server listen on? | What port does the server listen on?
On which port does the server listen? | Which port is the server listening on?
Why does the build fail on Windows? | Why is the build failing on Windows?
What causes the error "connection refused"? | What is the cause of the error "connection refused"?
When was the company founded? | In which year was the company founded?
When did the company start? | When was the company started?
Who is the current maintainer of the project? | Who currently maintains the project?
How do I run the tests? | How can I run the tests?
How are passwords hashed? | How does it hash passwords?
What happens when the budget is exceeded? | What happens if the budget is exceeded?
Does the library support Python 3.12? | Is Python 3.12 supported by the library?
Which Python versions are supported? | What Python versions are supported?
How do I delete a user from the database? | How can a user be deleted from the database?
How do I back up the database? | how to backup the database
What is a gap marker? | What are gap markers?
List the environment variables that the server reads | Which environment variables does the server read?
Show me an example of a query with a filter | Give me an example of a query with a filter
How is the score of a passage computed? | How does it compute the score of a passage?
What is the meaning of the status code 404? | What does the status code 404 mean?
How can I change the color of the header? | How do I change the header's color?
Where is the configuration file located? | What is the location of the configuration file?
Where is the configuration file? | Where can I find the configuration file?
What time does the museum open on Sundays? | When does the museum open on Sundays?
Who designed the Sydney Opera House? | The Sydney Opera House was designed by whom?
How tall is Mount Everest? | What is the height of Mount Everest?
How old is the universe? | What is the age of the universe?
Can I use the API without a key? | Is it possible to use the API without a key?
How do I authenticate with a token? | How can I authenticate using a token?
what are the rate limits of the api | What are the API's rate limits?
Which rate limits does the API have? | What rate limits are there for the API?
How often is the index updated? | How frequently is the index updated?
How do I update the index? | How can I update the index?
What should I do when the disk is full? | What do I do if the disk is full?
What is new in version 2.1? | What's new in version 2.1?
Please explain the pricing of the storage service | Explain the storage service's pricing
What are the side effects of ibuprofen? | Which side effects does ibuprofen have?
What is the dosage of ibuprofen for adults? | What's the adult dosage of ibuprofen?
Who is responsible for approving invoices? | Who approves invoices?
How are invoices approved? | What is the process for approving invoices?
What is our policy on remote work? | What's the remote work policy?
How many vacation days do employees get? | How many days of vacation do employees get?
When is the deadline for applications? | What is the application deadline?
What documents are needed for a visa? | Which documents do I need for a visa?
How can I export my data as CSV? | How do I export data to CSV?
Is the service available in Canada? | Can I use the service in Canada?
How do I enable two-factor authentication? | How can two-factor authentication be enabled?
"""

DIFFERENT = """
What is the default timeout? | What is the maximum timeout?
What is the default timeout of the client? | What is the default timeout of the server?
How do I install the package? | How do I uninstall the package?
How do I configure retries? | How do I configure timeouts?
How do I reset my password? | How do I change my username?
How do I enable two-factor authentication? | How do I disable two-factor authentication?
Where are the logs stored? | Where are the backups stored?
What is the capital of France? | What is the capital of Spain?
what is the capital of france | what is the capital of italy
Who wrote the novel Moby Dick? | Who published the novel Moby Dick?
Who wrote Hamlet? | Who wrote Macbeth?
How many connections does the pool open? | How many connections does the pool close?
What does the option max_tokens do? | What does the option min_tokens do?
How does the cache work? | How does the index work?
What changed in version 2.1? | What changed in version 2.2?
What is new in 2023? | What is new in 2024?
How long are backups kept? | How often are backups made?
How much does the enterprise plan cost? | How much does the basic plan cost?
How much did revenue grow in Q1? | How much did revenue grow in Q2?
What is the minimum size of an upload? | What is the maximum size of an upload?
Which users can read the file? | Which users can write the file?
Which users can log in? | Which users cannot log in?
Is Python 3.11 supported? | Is Python 3.12 supported?
How do I run the tests on Linux? | How do I run the tests on Windows?
how to install python on ubuntu | how to install java on ubuntu
how to sort a list in python | how to sort a list in javascript
How do I cancel my subscription? | How do I renew my subscription?
When was the company founded? | When was the company sold?
When was the company founded? | Who founded the company?
Why does the build fail? | Why does the build succeed?
How do I start the server? | How do I stop the server?
How do I add a user? | How do I remove a user?
How do I encrypt a file? | How do I decrypt a file?
Which port does the server listen on? | Which port does the client connect to?
What does status code 404 mean? | What does status code 403 mean?
How do I back up the database? | How do I restore the database?
Who is the father of Charles II? | Who is the father of Charles III?
What did the CEO say in May? | What did the CEO say in June?
What is the population of Berlin? | What is the area of Berlin?
What is the population of Berlin? | What is the population of Hamburg?
How do I connect to PostgreSQL? | How do I connect to MySQL?
What is the difference between a thread and a process? | What is the difference between a thread and a coroutine?
Can I use the API without a key? | Can I use the API with a key?
Does it work with Docker? | Does it work without Docker?
Which files are included? | Which files are excluded?
What is true of mammals? | What is not true of mammals?
Is the service available in Canada? | Is the service unavailable in Canada?
Is the service available in Canada? | Is the service available in Mexico?
How many employees work in sales? | How many employees work in marketing?
What was the temperature in Paris in July? | What was the temperature in Paris in January?
What is the price before tax? | What is the price after tax?
How do I increase the limit? | How do I decrease the limit?
What is the upper bound? | What is the lower bound?
How do I import data? | How do I export data?
Who may approve invoices over 1,000 euros? | Who may approve invoices over 10,000 euros?
What are the side effects of ibuprofen? | What are the side effects of aspirin?
What is the dosage of ibuprofen for adults? | What is the dosage of ibuprofen for children?
How many vacation days do employees get? | How many sick days do employees get?
When is the first deadline? | When is the second deadline?
How do I export my data as CSV? | How do I export my data as JSON?
Where is the configuration file? | Where is the license file?
What is our policy on remote work? | What is our policy on travel expenses?
How is the score of a passage computed? | How is the score of a segment computed?
How do I create a branch? | How do I merge a branch?
What does git reset do? | What does git rebase do?
Which tests are slow? | Which tests are fast?
How do I make the header larger? | How do I make the header smaller?
Who won the match between Arsenal and Chelsea? | Who won the match between Arsenal and Liverpool?
What did Alice tell Bob? | What did Bob tell Alice?
How do I convert miles to kilometers? | How do I convert kilometers to miles?
How do I fly from Rome to Oslo? | How do I fly from Oslo to Rome?
What is the oldest bridge in Prague? | What is the newest bridge in Prague?
Which employees have more than 5 years of service? | Which employees have less than 5 years of service?
How do I add a column to a table? | How do I add a row to a table?
What are the advantages of solar power? | What are the disadvantages of solar power?
What are the symptoms of measles? | What are the causes of measles?
How is measles treated? | How is measles prevented?
What happens when a payment succeeds? | What happens when a payment fails?
Who reports to the director? | Who does the director report to?
What did the report say about costs in 2021? | What did the report say about costs?
How do I use the encoder in LangChain? | How do I use the encoder in LlamaIndex?
What is the timeout? | What is the timeout of a retry?
How do I deploy to production? | How do I deploy to staging?
What is the fastest encoder? | What is the most accurate encoder?
"""


NEW_SAME = """
What does the flag --force do? | What is the flag --force for?
How do I rotate an API key? | How can I rotate an API key?
How are API keys rotated? | How do I rotate API keys?
Who approved the budget for 2024? | Who was it that approved the budget for 2024?
Which regions have a data center? | What regions have a data center?
How do I write a custom scorer? | How can a custom scorer be written?
What is the retention period of audit logs? | What is the audit log retention period?
Why was the release delayed? | Why was the release being delayed?
What are the opening hours of the library? | What are the library's opening hours?
When does the library open? | When is the library opening?
How many people live in Oslo? | How many people are living in Oslo?
How does photosynthesis work? | Explain how photosynthesis works.
How do vaccines work? | Can you tell me how vaccines work?
Who painted the Mona Lisa? | Who is the painter of the Mona Lisa?
Who discovered penicillin? | Who was the discoverer of penicillin?
What language is spoken in Brazil? | Which language is spoken in Brazil?
What is the boiling point of water? | What's the boiling point of water?
What is the exchange rate of the euro? | what's the euro's exchange rate
How long does shipping take? | How long does the shipping take?
How long does a refund take? | How long do refunds take?
Where do I find my invoices? | Where can I find my invoices?
Can I change the shipping address? | Is it possible to change the shipping address?
Does the car have a warranty? | Is there a warranty for the car?
What does the warranty of the car cover? | What is covered by the car's warranty?
Which errors are retried? | What errors are retried?
What is the purpose of the middleware? | What's the purpose of the middleware?
How do I log a message? | How can I log messages?
What are the steps to deploy a model? | Which steps are needed to deploy a model?
How is the interest rate calculated? | How do you calculate the interest rate?
Which team owns the billing service? | What team owns the billing service?
Who owns the billing service? | Who is the owner of the billing service?
What was the cause of the outage in March? | What caused the outage in March?
What are the conditions for a discount? | Which conditions are there for a discount?
How do I compare two documents? | How can two documents be compared?
Give me a list of supported file formats | Which file formats are supported?
What is the syntax of a list comprehension? | What's the syntax for list comprehensions?
How can I speed up a query? | How do I speed up queries?
What did the board decide in June? | What was decided by the board in June?
Is smoking allowed in the building? | Is it allowed to smoke in the building?
What is the name of the current chairman? | What's the current chairman's name?
"""

NEW_DIFFERENT = """
What does the flag --force do? | What does the flag --dry-run do?
How do I rotate an API key? | How do I revoke an API key?
Who approved the budget for 2024? | Who approved the budget for 2025?
Who approved the budget? | Who rejected the budget?
Which regions have a data center? | Which regions have no data center?
What is the retention period of audit logs? | What is the retention period of access logs?
When does the library open? | When does the library close?
When does the library open? | When did the library open?
How many people live in Oslo? | How many people live in Bergen?
How many people live in Oslo? | How many people work in Oslo?
Who painted the Mona Lisa? | Who stole the Mona Lisa?
Which company acquired Acme? | Which company did Acme acquire?
Who manages Alice? | Who does Alice manage?
Was Acme acquired by Globex? | Did Acme acquire Globex?
Does the client call the server? | Is the client called by the server?
What is the boiling point of water? | What is the freezing point of water?
How long does shipping take? | How much does shipping cost?
Can I change the shipping address? | How do I change the shipping address?
Can I delete my account? | Should I delete my account?
What does the warranty cover? | What does the warranty not cover?
Which errors are retried? | Which errors are never retried?
Which errors are retried? | How are errors retried?
Which errors are retried? | When are errors retried?
Where is the key stored? | Why is the key stored?
Who owns the billing service? | Who uses the billing service?
What caused the outage in March? | What caused the outage in May?
What caused the outage? | What fixed the outage?
What did the board decide in June? | What did the board discuss in June?
What is the current chairman's name? | What is the former chairman's name?
Is smoking allowed in the building? | Is smoking forbidden in the building?
How do I move a file from A to B? | How do I move a file from B to A?
What is the distance from Rome to Milan? | What is the distance from Rome to Turin?
Which is larger than Jupiter? | Which is Jupiter larger than?
What did the teacher give the student? | What did the student give the teacher?
Who is the father of the bride's mother? | Who is the mother of the bride's father?
How do I convert JSON to YAML? | How do I convert YAML to JSON?
How many tokens does GPT-4 accept? | How many tokens does GPT-3 accept?
What is the limit of the free plan? | What is the limit of the paid plan?
What is the latency at the 95th percentile? | What is the latency at the 99th percentile?
What is the speed of light in water? | What is the speed of light in glass?
What is the speed of light? | What is the speed of sound?
How do I turn logging on? | How do I turn logging off?
Which tests ran before the release? | Which tests ran after the release?
Which customers pay more than 100 dollars? | Which customers pay more than 1000 dollars?
Which customers pay monthly? | Which customers pay yearly?
Who is the CEO of Apple? | Who was the CEO of Apple?
Who is the CEO of Apple? | Who is the CFO of Apple?
What is the default value of top_n? | What is the default value of min_score?
What is the default value of top_n? | What is the type of top_n?
Where was Einstein born? | When was Einstein born?
Where was Einstein born? | Where did Einstein die?
What was the revenue of the first quarter? | What was the revenue of the third quarter?
What was the profit in 2020? | What was the loss in 2020?
How do I log in? | How do I log out?
How do I scale up the cluster? | How do I scale down the cluster?
Which drugs interact with warfarin? | Which drugs do not interact with warfarin?
Which drugs interact with warfarin? | Which foods interact with warfarin?
Is the meeting in room 12? | Is the meeting in room 21?
What do bees eat? | What eats bees?
Which country exports the most coffee? | Which country imports the most coffee?
Which country exports the most coffee? | Which country exports the least coffee?
What are the duties of a tenant? | What are the rights of a tenant?
Can a landlord evict a tenant? | Can a tenant sue a landlord?
How can I contact support by phone? | How can I contact support by email?
"""


def pairs(text: str) -> list[tuple[str, str]]:
    """Return the pairs of one of the two lists."""
    found = [tuple(line.split(" | ")) for line in text.strip().splitlines()]
    return [(one, other) for one, other in found]
